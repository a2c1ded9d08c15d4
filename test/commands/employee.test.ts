import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { mintTokenKey } from "#lib/employee/token-key.ts";
import { type SecretsServer, startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore } from "../../infra/local/secrets/store.ts";
import { callCommand } from "../steps/command.ts";
import { employeeClient } from "../steps/employee.ts";
import { stopClock } from "../steps/secrets.ts";

const { baseUrl, employee, employeeAdminUrl } = inject("city");

describe("sessions", () => {
  const sessions = (...args: string[]) =>
    callCommand(
      () => import("../../infra/commands/sessions.ts"),
      { DATABASE_URL: employeeAdminUrl },
      ...args,
    );
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
      status: 1,
      errors: expect.stringContaining("neither a session nor an account"),
    });
  });
});

describe("token-key", () => {
  const store = openStore(undefined);
  let server: SecretsServer;
  const tokenKey = (...args: string[]) =>
    callCommand(
      () => import("../../infra/commands/token-key.ts"),
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
    const keys = [await tokenKey("new"), await tokenKey("new")];
    const [first, second] = keys.map(({ out }) => JSON.parse(out));
    expect(first).toEqual({ kty: "oct", alg: "HS256", kid: expect.any(String), k: expect.any(String) });
    expect(first.k).not.toBe(second.k);
  });

  test("rotate does not end tokens that are still valid, unless it is forced to", async () => {
    const before = store.find("key");
    expect(await tokenKey("rotate")).toMatchObject({
      status: 1,
      errors: expect.stringContaining("--force"),
    });
    const { status, out } = await tokenKey("rotate", "--force");
    const now = JSON.parse(store.find("key")?.value ?? "{}");
    expect([status, out.includes(now.kid), out.includes(now.k)]).toEqual([0, true, false]);
    expect(store.find("key", { stage: "AWSPREVIOUS" })?.id).toBe(before?.id);
  });

  test("rotate waits until no token of the key before the current one can be valid", async () => {
    const clock = stopClock();
    store.put("key", JSON.stringify(mintTokenKey()));
    // a function signs with a key for 5 minutes after a rotation, a token lives for 15
    clock.pass(20 * 60_000 - 2_000);
    expect((await tokenKey("rotate")).status).toBe(1);
    clock.pass(4_000);
    expect((await tokenKey("rotate")).status).toBe(0);
  });
});
