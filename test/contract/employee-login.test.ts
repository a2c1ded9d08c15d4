import { beforeAll, describe, expect, inject, test } from "vitest";
import { seenBy } from "../steps/employee.ts";
import { when } from "./when.ts";

const { employee, legacyAuthUrl } = inject("city");
const loginPath = "/v1/simpeg/auth/login";
const refreshPath = "/v1/simpeg/auth/refresh";
const credentials = { username: employee.username, password: employee.password };

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

describe("login", () => {
  const login = (body: unknown) => when({ path: loginPath, body });

  test("returns exactly a token, its lifetime in seconds, a refresh token and scopes", async () => {
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

  test("issues a token with issuer, audience, subject, scope and times, and no personal data", async () => {
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

  test("accepts the NIP of an account that is configured for it", async () => {
    const { status, json } = await login({ username: employee.nip, password: employee.passphrase });
    expect([status, claimsOf(json.token).sub]).toEqual([200, "2"]);
  });

  test("gives an account exactly the scopes that the legacy system grants", async () => {
    const { json } = await login({ username: "reader", password: employee.password });
    expect(json.scope).toBe("employee:read");
  });

  test("forwards username and password to the legacy system unchanged", async () => {
    const password = `ü+&=% 🔑`;
    expect((await login({ username: "a.b+c@d", password })).status).toBe(401);
    const forms = (await seenBy(legacyAuthUrl)).map(({ body }) =>
      Object.fromEntries(new URLSearchParams(body)),
    );
    expect(forms).toContainEqual({ username: "a.b+c@d", password });
  });
});

describe("refresh", () => {
  const refresh = (body: unknown, headers = {}) => when({ path: refreshPath, body, headers });
  let refreshToken: string;

  beforeAll(async () => {
    refreshToken = (await when({ path: loginPath, body: credentials })).json.refresh_token;
  });

  test("returns the next token pair under the contract's and OAuth's field names", async () => {
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
  });
});
