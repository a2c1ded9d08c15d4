import { expect, test } from "vitest";
import { mintedSecrets } from "#lib/secrets/table/table.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import { startLambda } from "../../infra/local/lambda/lambda.ts";
import { startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore, type SecretStore } from "../../infra/local/secrets/store.ts";

const names = mintedSecrets.map((name) => `municipal/new/${name}`);

/** Runs the function of the bundle that is deployed. @returns what it logged. */
const fill = async (store: SecretStore): Promise<string> => {
  const server = await startSecretsServer(store);
  const lines: string[] = [];
  const lambda = startLambda({
    name: "fill-secrets",
    folder: bundleFolder("fill-secrets"),
    variables: {
      AWS_REGION: "local",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
      SECRETS_PREFIX: "municipal/new/",
    },
    timeoutSeconds: 30,
    onLine: (line) => lines.push(line),
  });
  const outcome = await lambda.invoke({}, "deployment");
  await lambda.stop();
  await server.stop();
  if ("errorMessage" in outcome) throw new Error(outcome.errorMessage);
  return lines.join("\n");
};

const emptyStore = () => {
  const store = openStore(undefined);
  for (const name of names) store.create(name);
  return store;
};

test("each empty secret gets its own value and no previous version, and no log contains the value", async () => {
  const store = emptyStore();
  const logged = await fill(store);
  const values = names.map((name) => store.find(name)?.value ?? "");
  expect(new Set(values).size).toBe(names.length);
  for (const [index, name] of names.entries()) {
    expect(store.list(name)?.map(({ stages }) => stages)).toEqual([["AWSCURRENT"]]);
    const [long = "none"] = values[index]?.match(/[\w-]{32,}/) ?? [];
    expect([name, logged.includes(long)]).toEqual([name, false]);
    expect(logged).toContain(name);
  }
});

test("a secret that has a value keeps it", async () => {
  const store = emptyStore();
  await fill(store);
  const before = names.map((name) => store.find(name)?.value);
  await fill(store);
  expect(names.map((name) => store.find(name)?.value)).toEqual(before);
});

test("secrets after one that has a value are filled too", async () => {
  const store = emptyStore();
  const [first = "", ...others] = names;
  store.put(first, '"kept"');
  await fill(store);
  expect(store.find(first)?.value).toBe('"kept"');
  expect(others.filter((name) => store.find(name) === undefined)).toEqual([]);
});

test("a missing secret fails the deployment", async () => {
  await expect(fill(openStore(undefined))).rejects.toThrow(/can't find/);
});
