import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { mintTokenKey } from "#lib/employee/token-key.ts";
import { type SecretsServer, startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore } from "../../infra/local/secrets/store.ts";
import { employeeClient } from "../steps/employee.ts";

const { baseUrl, employee, sessionAdminUrl } = inject("city");

const run = (command: string, env: Record<string, string>, ...args: string[]) =>
  new Promise<{ failed: boolean; out: string; errors: string }>((resolve) => {
    execFile(process.execPath, [`infra/commands/${command}.ts`, ...args], { env }, (error, out, errors) =>
      resolve({ failed: error !== null, out, errors }),
    );
  });

describe("sessions", () => {
  const sessions = (...args: string[]) => run("sessions", { DATABASE_URL: sessionAdminUrl }, ...args);
  const client = employeeClient(baseUrl);
  const login = async () => (await client.login("reader", employee.password)).json.refresh_token;

  test("are listed with account and times, and never with a token", async () => {
    const token = await login();
    const { out } = await sessions("list");
    expect(out).toMatch(/^account +session +scope +started +refreshed +expires/);
    expect(out).toMatch(/^3 +[\w-]{36} +employee:read +\d{4}-/m);
    expect(out).not.toContain(token);
  });

  test("of an account are ended, so that nothing refreshes them any more", async () => {
    const [first, second] = [await login(), await login()];
    expect((await sessions("end", "3")).out).toMatch(/ended \d+ sessions/);
    for (const token of [first, second])
      expect((await client.refresh(token)).json.error).toBe("invalid_grant");
    expect(await sessions("end", "3")).toMatchObject({
      failed: true,
      errors: expect.stringContaining("neither a session nor an account"),
    });
  });

  test.each([[["end"]], [["stop", "3"]], [["list", "a"]], [["list", "a", "b"]]])(
    "refuses %j and says why",
    async (args) => {
      const { failed, errors } = await sessions(...args);
      expect([failed, errors.trim().length > 10]).toEqual([true, true]);
    },
  );
});

describe("token-key", () => {
  const store = openStore(undefined);
  let server: SecretsServer;
  const tokenKey = (...args: string[]) =>
    run(
      "token-key",
      {
        ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
        ...{ AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url, TOKEN_KEY_SECRET_ID: "key" },
      },
      ...args,
    );

  beforeAll(async () => {
    server = await startSecretsServer(store);
    store.put("key", JSON.stringify(mintTokenKey()));
  });
  afterAll(() => server.stop());

  test("new prints a key in the secret's own shape, each time another", async () => {
    const keys = await Promise.all([tokenKey("new"), tokenKey("new")]);
    const [first, second] = keys.map(({ out }) => JSON.parse(out));
    expect(first).toEqual({ kty: "oct", alg: "HS256", kid: expect.any(String), k: expect.any(String) });
    expect(first.k).not.toBe(second.k);
  });

  test("rotate does not end tokens that are still valid, unless it is forced to", async () => {
    const before = store.find("key");
    expect(await tokenKey("rotate")).toMatchObject({
      failed: true,
      errors: expect.stringContaining("--force"),
    });
    const { failed, out } = await tokenKey("rotate", "--force");
    const now = JSON.parse(store.find("key")?.value ?? "{}");
    expect([failed, out.includes(now.kid), out.includes(now.k)]).toEqual([false, true, false]);
    expect(store.find("key", { stage: "AWSPREVIOUS" })?.id).toBe(before?.id);
  });
});
