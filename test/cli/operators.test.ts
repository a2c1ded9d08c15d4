import { expect, onTestFinished, test } from "vitest";
import { findOperator } from "#lib/console/login/local-users.ts";
import { startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore, readLocalSecret, type SecretStore } from "../../infra/local/secrets/store.ts";
import { callCommand } from "../steps/command.ts";

const secretName = "municipal/local/messenger-console";

/** Serves a store of secrets to the command. @returns how to call it, and what is stored */
const openCommand = async (store: SecretStore) => {
  store.put(secretName, JSON.stringify({ users: [], clientSecret: "kept" }));
  const server = await startSecretsServer(store);
  onTestFinished(() => server.stop());
  const settings = {
    AWS_REGION: "ap-southeast-3",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
  };
  const call = (line: string, stage = "local") =>
    callCommand(() => import("../../infra/cli/operators.ts"), settings, ...line.split(" "), "--stage", stage);
  return { call, stored: () => readLocalSecret("messenger-console", store) };
};

/** A store in which another operator's change arrives between the reading and the writing of a command. */
const openRaced = (races: number): SecretStore => {
  const store = openStore(undefined);
  let left = races;
  return {
    ...store,
    put(name, value, options) {
      const version = store.put(name, value, options);
      if (options?.stages?.includes("AWSPENDING") && left > 0) {
        left -= 1;
        const { users, ...rest } = JSON.parse(store.find(name)?.value ?? "null");
        store.put(
          name,
          JSON.stringify({ ...rest, users: [...users, { ...other, username: `other-${left}` }] }),
        );
      }
      return version;
    },
  };
};
const other = { role: "viewer", hash: `scrypt:16:1:1:${"A".repeat(22)}:${"A".repeat(43)}` };

test("a change by another operator at the same time is not lost", async () => {
  const { call, stored } = await openCommand(openRaced(2));
  expect((await call("add sari --role operator")).status).toBe(0);
  expect(stored().users.map(({ username }) => username)).toEqual(["other-1", "other-0", "sari"]);
});

test("a command that is overtaken five times changes nothing and says so", async () => {
  const { call, stored } = await openCommand(openRaced(5));
  expect(await call("add sari --role operator")).toMatchObject({
    status: 1,
    errors: "Another change to the operators is in progress. Try again.\n",
  });
  expect(stored().users).toHaveLength(5);
});

test("a stage that does not exist is said to be none, without a stack", async () => {
  const { call } = await openCommand(openStore(undefined));
  const answer = { status: 1, errors: expect.stringMatching(/^AWS refused .*check the stage's name.*\n$/) };
  for (const line of ["list", "add sari --role admin"])
    expect(await call(line, "nowhere")).toMatchObject(answer);
});

test("the command that is advised works with the same stage", async () => {
  const { call } = await openCommand(openStore(undefined));
  expect((await call("list")).out).toMatch(
    /npm run city -- operators add NAME --role admin --stage local\n$/,
  );
});

test("the last admin is neither removed nor given another role", async () => {
  const { call } = await openCommand(openStore(undefined));
  await call("add sari --role admin");
  for (const line of ["remove sari", "add sari --role viewer"])
    expect(await call(line)).toMatchObject({ status: 1, errors: expect.stringContaining("the last admin") });
  await call("add budi --role admin");
  expect((await call("remove sari")).status).toBe(0);
});

test("an operator is added with a password that is printed once and stored as a digest, and is removed again", async () => {
  const { call, stored } = await openCommand(openStore(undefined));
  const added = await call("add sari --role operator");
  const password = /Password, shown only now: (\S+)/.exec(added.out)?.[1] ?? "";
  expect(password).toHaveLength(43);
  expect(JSON.stringify(stored())).not.toContain(password);
  const login = (typed: string) => findOperator(stored().users, { username: "sari", password: typed });
  expect(await login(password)).toMatchObject({ id: "sari", name: "sari", role: "operator" });

  await call("add sari --role viewer");
  expect(await login(password)).toBeUndefined();
  expect((await call("list")).out).toMatch(/sari +viewer/);
  expect((await call("remove sari")).status).toBe(0);
  expect(stored()).toEqual({ users: [], clientSecret: "kept" });
  expect(await call("remove sari")).toMatchObject({ status: 1, errors: "No operator sari.\n" });
});
