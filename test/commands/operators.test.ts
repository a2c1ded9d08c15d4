import { expect, onTestFinished, test } from "vitest";
import { findOperator } from "#lib/messenger/console/login/local-users.ts";
import { startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore, readLocalSecret } from "../../infra/local/secrets/store.ts";
import { callCommand } from "../steps/command.ts";

test("an operator is added with a password that is printed once and stored as a digest, and is removed again", async () => {
  const store = openStore(undefined);
  store.put("municipal/local/messenger-console", JSON.stringify({ users: [], clientSecret: "kept" }));
  const server = await startSecretsServer(store);
  onTestFinished(() => server.stop());
  const settings = {
    CONSOLE_SECRET_ID: "municipal/local/messenger-console",
    AWS_REGION: "ap-southeast-3",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
  };
  const call = (line: string) =>
    callCommand(() => import("../../infra/commands/operators.ts"), settings, ...line.split(" "));
  const stored = () => readLocalSecret("messenger-console", store);

  const added = await call("add sari --role operator");
  const password = /Password, shown only now: (\S+)/.exec(added.out)?.[1] ?? "";
  expect(password).toHaveLength(43);
  expect(JSON.stringify(stored())).not.toContain(password);
  const login = (typed: string) => findOperator(stored().users, { username: "sari", password: typed });
  expect(await login(password)).toEqual({ name: "sari", role: "operator" });

  await call("add sari --role viewer");
  expect(await login(password)).toBeUndefined();
  expect((await call("list")).out).toMatch(/sari +viewer/);
  expect((await call("remove sari")).status).toBe(0);
  expect(stored()).toEqual({ users: [], clientSecret: "kept" });
  expect(await call("remove sari")).toMatchObject({ status: 1, errors: "No operator sari.\n" });
});
