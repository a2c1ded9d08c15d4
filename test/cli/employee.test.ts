import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { secretTable } from "#lib/secrets/table/table.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import { type Lambda, startLambda } from "../../infra/local/lambda/lambda.ts";
import { type SecretsServer, startSecretsServer } from "../../infra/local/secrets/server.ts";
import { localSecretName, openStore } from "../../infra/local/secrets/store.ts";
import { callCommand } from "../steps/command.ts";
import { employeeClient } from "../steps/employee.ts";
import { stopClock } from "../steps/secrets.ts";

const { baseUrl, employee, employeeAdminUrl, variables } = inject("city");

describe("sessions", () => {
  const sessions = (...args: string[]) =>
    callCommand(
      () => import("../../infra/cli/sessions.ts"),
      variables["employee/login"] ?? {},
      ...[...args, "--stage", "local"],
    );
  const client = employeeClient(baseUrl);
  const login = async () => (await client.login("reader", employee.password)).json.refresh_token;

  test("are listed with account and times, without tokens", async () => {
    const token = await login();
    const { out } = await sessions("list");
    expect(out).toMatch(/^account +session +scope +started +refreshed +expires/);
    expect(out).toMatch(/^3 +[\w-]{36} +employee:read +\d{4}-\d\d-\d\d \d\d:\d\d WIB /m);
    expect(out).not.toContain(token);
  });

  test("of an account are ended and cannot be refreshed", async () => {
    const [first, second] = [await login(), await login()];
    const issued = (await client.login("reader", employee.password)).json;
    expect((await sessions("end", "3")).out).toMatch(/^\d+ sessions ended/);
    const ended = Date.now() / 1_000;
    // nothing renews an access token: it expires at most 15 minutes after the end of its session
    expect(decodeJwt(issued.token).exp).toBeLessThanOrEqual(ended + 900);
    expect((await client.refresh(issued.refresh_token)).json.error).toBe("invalid_grant");
    for (const token of [first, second])
      expect((await client.refresh(token)).json.error).toBe("invalid_grant");
    expect(await sessions("end", "3")).toMatchObject({
      status: 1,
      errors: expect.stringContaining('No open session of "3"'),
    });
  });
});

describe("sessions of a name", () => {
  const end = (...args: string[]) =>
    callCommand(
      () => import("../../infra/cli/sessions.ts"),
      variables["employee/login"] ?? {},
      ...["end", ...args, "--stage", "local"],
    );
  const client = employeeClient(baseUrl);
  const login = async (name: string, password: string) => (await client.login(name, password)).json;

  test.each([
    ["username", employee.username, employee.password],
    ["NIP", employee.nip, employee.passphrase],
  ])("are ended by the %s of the login, in any case", async (_, name, password) => {
    const { refresh_token } = await login(name, password);
    expect((await end(name.toUpperCase())).out).toMatch(/^\d+ sessions? ended/);
    expect((await client.refresh(refresh_token)).json.error).toBe("invalid_grant");
    expect(await end(name)).toMatchObject({ status: 1, errors: expect.stringContaining("No open session") });
  });
});

describe("sessions unlock", () => {
  const unlock = (name: string) =>
    callCommand(
      () => import("../../infra/cli/sessions.ts"),
      variables["employee/login"] ?? {},
      ...["unlock", name, "--stage", "local"],
    );

  test("forgets the failures of a name in any case, so that its next login is not rejected", async () => {
    const client = employeeClient(baseUrl, { address: "127.0.55.1" });
    const name = `nobody-${randomUUID()}`;
    const attempt = async () => (await client.login(name, "wrong")).status;
    for (let i = 0; i < 5; i++) expect(await attempt()).toBe(401);
    expect(await attempt()).toBe(429);
    const { out } = await unlock(name.toUpperCase());
    expect(out).toMatch(/^5 failed attempts for .* are cleared/);
    expect(await unlock(`nosuch-${name}`)).toMatchObject({
      status: 1,
      errors: expect.stringContaining("nothing is locked"),
    });
    expect(await attempt()).toBe(401);
  });

  test("names the secret that it needs of the stage of another database", async () => {
    const other = { DATABASE_URL: employeeAdminUrl };
    const sessions = () => import("../../infra/cli/sessions.ts");
    expect(await callCommand(sessions, other, "unlock", "someone")).toMatchObject({
      status: 2,
      errors: expect.stringContaining("Add --stage NAME: this needs the secret attempt-pepper"),
    });
  });
});

describe("token-key", () => {
  const store = openStore(undefined);
  const id = localSecretName("token-key");
  const putKey = () => store.put(id, JSON.stringify(secretTable["token-key"].mint()));
  let server: SecretsServer;
  let rotator: Lambda;
  let rotate: Parameters<typeof startSecretsServer>[1];
  const settings = () => ({
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
  });
  const tokenKey = (...args: string[]) =>
    callCommand(() => import("../../infra/cli/token-key.ts"), settings(), ...[...args, "--stage", "local"]);

  beforeAll(async () => {
    server = await startSecretsServer(
      store,
      async (step) => rotate?.(step) ?? rotator.invoke(step, "rotation"),
    );
    rotator = startLambda({
      name: "rotate",
      folder: bundleFolder("rotate"),
      variables: { ...settings(), SECRETS_PREFIX: "municipal/local/" },
      timeoutSeconds: 30,
      onLine: () => {},
    });
    putKey();
  });
  afterAll(async () => {
    await rotator.stop();
    await server.stop();
  });

  test("new prints a different key in the secret's format each time", async () => {
    const keys = [await tokenKey("new"), await tokenKey("new")];
    const [first, second] = keys.map(({ out }) => JSON.parse(out));
    expect(first).toEqual({ kty: "oct", alg: "HS256", kid: expect.any(String), k: expect.any(String) });
    expect(first.k).not.toBe(second.k);
  });

  test("rotate replaces the first key at any age, because there is no previous one", async () => {
    expect(store.find(id, { stage: "AWSPREVIOUS" })).toBeUndefined();
    expect(await tokenKey("rotate")).toMatchObject({
      status: 0,
      out: expect.stringContaining("has the new key"),
    });
  });

  test("rotate does not invalidate valid tokens, unless it is forced", async () => {
    const before = store.find(id);
    expect(await tokenKey("rotate")).toMatchObject({
      status: 1,
      errors: expect.stringContaining("--force"),
    });
    const { status, out } = await tokenKey("rotate", "--force");
    const now = JSON.parse(store.find(id)?.value ?? "{}");
    expect([status, out.includes(now.kid), out.includes(now.k)]).toEqual([0, true, false]);
    expect(store.find(id, { stage: "AWSPREVIOUS" })?.id).toBe(before?.id);
  });

  test("rotate is rejected until all tokens of the previous key have expired", async () => {
    const clock = stopClock();
    putKey();
    // a function signs with a key for 5 minutes after a rotation, a token lives for 15
    clock.pass(20 * 60_000 - 2_000);
    expect((await tokenKey("rotate")).status).toBe(1);
    clock.pass(4_000);
    expect((await tokenKey("rotate")).status).toBe(0);
  });

  test("rotate fails when the new key is not the current one within a minute", async () => {
    const clock = stopClock();
    const before = store.find(id)?.value;
    rotate = async () => {
      clock.pass(60_000);
      return { errorMessage: "the database is away", errorType: "Error" };
    };
    expect(await tokenKey("rotate", "--force")).toMatchObject({
      status: 1,
      errors: expect.stringContaining("has not finished within 60 s"),
    });
    expect(store.find(id)?.value).toBe(before);
  });
});
