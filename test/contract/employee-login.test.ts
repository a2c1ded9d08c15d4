import { beforeAll, describe, expect, inject, test } from "vitest";
import { seenBy } from "../steps/employee.ts";
import { ways, when } from "../steps/when.ts";

const { employee, legacyAuthUrl } = inject("city");
const loginPath = "/v1/simpeg/auth/login";
const refreshPath = "/v1/simpeg/auth/refresh";
const credentials = { username: employee.username, password: employee.password };

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

describe.each(ways)("login %s", (way) => {
  const ask = when(way);
  const login = (body: unknown) => ask({ path: loginPath, body });

  test("answers a token, its life in seconds, a refresh token and scopes, and nothing else", async () => {
    const { status, headers, json } = await login(credentials);
    expect(status).toBe(200);
    expect(json).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_in: 900,
      refresh_token: expect.stringMatching(/^mir_[\w-]{43}$/),
      scope: "employee:read employee:ticket",
    });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("issues a token that says who issued it, for whom, for what and until when, and no personal data", async () => {
    const { json } = await login(credentials);
    const { iat, nbf, exp, jti, ...rest } = claimsOf(json.token);
    expect([exp - iat, nbf <= iat, typeof jti]).toEqual([900, true, "string"]);
    expect(rest).toEqual({
      iss: "municipal-integration-api",
      aud: "municipal-integration-api/v1",
      sub: "1",
      scope: json.scope,
    });
  });

  test("takes the NIP of an account that is configured for it", async () => {
    const { status, json } = await login({ username: employee.nip, password: employee.passphrase });
    expect([status, claimsOf(json.token).sub]).toEqual([200, "2"]);
  });

  test("gives an account the scopes that the legacy system grants it, and no others", async () => {
    const { json } = await login({ username: "reader", password: employee.password });
    expect(json.scope).toBe("employee:read");
  });

  test("hands username and password on to the legacy system exactly as they came", async () => {
    const password = `ü+&=% 🔑 ${way}`;
    expect((await login({ username: "a.b+c@d", password })).status).toBe(401);
    const forms = (await seenBy(legacyAuthUrl)).map(({ body }) =>
      Object.fromEntries(new URLSearchParams(body)),
    );
    expect(forms).toContainEqual({ username: "a.b+c@d", password });
  });

  test.each([
    ["no username", { password: "p" }, "username"],
    ["no password", { username: "u" }, "password"],
    ["a number as username", { username: 1, password: "p" }, "username"],
    ["a blank username", { username: "", password: "p" }, "username"],
    ["spaces around the username", { username: " demo ", password: "p" }, "username"],
    ["a username of 65 characters", { username: "u".repeat(65), password: "p" }, "username"],
    ["a username with a letter that looks like another", { username: "dеmo", password: "p" }, "username"],
    ["a blank password", { username: "u", password: "" }, "password"],
    ["null as password", { username: "u", password: null }, "password"],
    ["a password of 257 characters", { username: "u", password: "p".repeat(257) }, "password"],
    ["a password with a null character", { username: "u", password: "p\0q" }, "password"],
    ["half a character in the password", '{"username":"u","password":"\\ud800"}', "password"],
    ["a list", [], "body"],
  ])("answers 400 to %s", async (_, body, field) => {
    const { status, json } = await login(body);
    expect([status, json.code, json.errors[0].field]).toEqual([400, "invalid_request", field]);
    expect(json.message).toBe(json.errors[0].message);
  });

  test("answers 400 to a form", async () =>
    expect((await login(new URLSearchParams(credentials))).status).toBe(400));
});

describe.each(ways)("refresh %s", (way) => {
  const ask = when(way);
  const refresh = (body: unknown, headers = {}) => ask({ path: refreshPath, body, headers });
  let refreshToken: string;

  beforeAll(async () => {
    refreshToken = (await ask({ path: loginPath, body: credentials })).json.refresh_token;
  });

  test("answers the next pair in the contract's names and in OAuth's", async () => {
    const { status, json } = await refresh(
      new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken }),
    );
    expect(status).toBe(200);
    expect(json).toEqual({
      token: expect.any(String),
      expires_in: 900,
      refresh_token: expect.stringMatching(/^mir_/),
      scope: "employee:read employee:ticket",
      access_token: json.token,
      token_type: "Bearer",
    });
    expect(json.refresh_token).not.toBe(refreshToken);
    expect(claimsOf(json.token).sub).toBe("1");
    refreshToken = json.refresh_token;
  });

  test("ignores fields that it does not know", async () => {
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: "app" };
    const { status, json } = await refresh(new URLSearchParams(form));
    expect(status).toBe(200);
    refreshToken = json.refresh_token;
  });

  test.each([
    ["no grant_type", "refresh_token=x", "invalid_request"],
    ["another grant_type", "grant_type=password&username=u", "unsupported_grant_type"],
    ["a blank grant_type", "grant_type=&refresh_token=x", "invalid_request"],
    ["no refresh token", "grant_type=refresh_token", "invalid_request"],
    ["a blank refresh token", "grant_type=refresh_token&refresh_token=", "invalid_request"],
    ["an unknown refresh token", "grant_type=refresh_token&refresh_token=mir_x", "invalid_grant"],
    ["a field twice", "grant_type=refresh_token&refresh_token=a&refresh_token=b", "invalid_request"],
    ["an access token", "grant_type=refresh_token&refresh_token=a.b.c", "invalid_grant"],
    ["bytes that are no text", "grant_type=refresh_token&refresh_token=%ff%00", "invalid_grant"],
    ["no body", "", "invalid_request"],
  ])("answers 400 to %s, as OAuth clients and ours understand it", async (_, body, error) => {
    const { status, json } = await refresh(new URLSearchParams(body));
    expect([status, json.error, json.code, json.status]).toEqual([400, error, error, "error"]);
    expect(json.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(json.request_id).toEqual(expect.any(String));
  });

  test("answers 400 to JSON", async () => {
    const { status, json } = await refresh({ grant_type: "refresh_token", refresh_token: refreshToken });
    expect([status, json.error]).toEqual([400, "invalid_request"]);
  });

  test("answers 413 to a form over 64 KB", async () => {
    const { status, json } = await refresh(new URLSearchParams({ refresh_token: "x".repeat(65_536) }));
    expect([status, json.error, json.code]).toEqual([413, "invalid_request", "payload_too_large"]);
  });
});
