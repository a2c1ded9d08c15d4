import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ConsoleOptions } from "#lib/console/console.ts";
import { type IssuerSettings, openIssuer } from "#lib/console/login/issuer.ts";
import { type IssuerMood, startIssuer } from "../steps/issuer.ts";
import { host, open } from "./console-browser.ts";

let issuer: Awaited<ReturnType<typeof startIssuer>>;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());
beforeEach(() => {
  issuer.failureMode = {};
  issuer.asked.length = 0;
});

const openConsole = (more: Partial<ConsoleOptions> = {}, settings: Partial<IssuerSettings> = {}) => {
  const client = { clientId: "console", findClientSecret: async () => undefined };
  const opened = openIssuer({ url: issuer.url, groupsClaim: "cognito:groups", ...client, ...settings });
  return open({ issuer: opened, ...more });
};
const cookieOf = (headers: Record<string, unknown>, name: string) =>
  [headers["set-cookie"] ?? []].flat().find((cookie) => String(cookie).startsWith(`${name}=`)) as
    | string
    | undefined;

/** Logs in as a browser does. @returns the last answer and how to ask it again */
const logIn = async (
  city: ReturnType<typeof open>,
  asOther = false,
  more: Readonly<Record<string, string>> = {},
) => {
  const begun = await city.get("/sign-in", more);
  expect(begun.statusCode).toBe(303);
  const cookie = cookieOf(begun.headers, "console-sign-in");
  const { headers } = await fetch(String(begun.headers.location), { redirect: "manual" });
  const back = new URL(headers.get("location") ?? "");
  const path = `${back.pathname.replace("/console", "")}${back.search}`;
  const [pair = ""] = cookie?.split(";") ?? [];
  const answer = () => city.get(path, asOther ? more : { ...more, cookie: pair });
  return { answered: await answer(), answer, cookie };
};

test("an operator logs in at the issuer by code, PKCE, state and nonce, with the highest role of the groups", async () => {
  const city = openConsole();
  const { answered, cookie } = await logIn(city);
  expect(answered.statusCode).toBe(200);
  expect(answered.body).toContain('<meta http-equiv="refresh" content="0;url=/console">');
  const [asked] = issuer.asked;
  expect(Object.fromEntries(asked ?? [])).toMatchObject({
    response_type: "code",
    client_id: "console",
    redirect_uri: `http://${host}/console/callback`,
    code_challenge_method: "S256",
    prompt: "login",
    max_age: "0",
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  // Lax for the way back from another site; the login itself is Strict
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  const login = cookieOf(answered.headers, "console") ?? "";
  expect(login).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=3600$/);
  const { body } = await city.get("", { cookie: login.split(";")[0] ?? "" });
  expect(body).toContain("sari · operator");
  await expect.poll(() => city.messenger.acts).toEqual(["sari login done"]);
});

test("the page offers no password where there is an issuer, and accepts none", async () => {
  const city = openConsole();
  const { body } = await city.get("/login");
  expect(body).toContain('href="/console/sign-in"');
  expect(body).not.toContain("password");
  expect((await city.logIn()).statusCode).toBe(404);
});

describe("a login is rejected", () => {
  const rejected = "answer was rejected";
  test.each<[string, IssuerMood, number, string]>([
    ["that the issuer refuses", { refuses: true }, 401, rejected],
    ["with another nonce", { claims: { nonce: "other" } }, 401, rejected],
    ["without a nonce", { claims: { nonce: undefined } }, 401, rejected],
    ["for another client", { claims: { aud: "other" } }, 401, rejected],
    ["of another issuer", { claims: { iss: "http://other.example" } }, 401, rejected],
    ["that has expired", { expiresInSeconds: -60 }, 401, rejected],
    ["with another state", { state: "other" }, 401, rejected],
    ["that another key has signed", { signsWithOtherKey: true }, 401, rejected],
    [
      "of a person who had logged in before, and did not now",
      { claims: { auth_time: 1_000 } },
      401,
      rejected,
    ],
    ["that does not say when the person has logged in", { claims: { auth_time: undefined } }, 401, rejected],
    ["without one of the groups", { claims: { "cognito:groups": ["others"] } }, 403, "no role"],
    ["without groups", { claims: { "cognito:groups": undefined } }, 403, "no role"],
  ])("%s", async (_, failureMode, status, said) => {
    const city = openConsole();
    issuer.failureMode = failureMode;
    const { answered } = await logIn(city);
    expect([answered.statusCode, cookieOf(answered.headers, "console")]).toEqual([status, undefined]);
    expect(answered.body).toContain(said);
    expect(city.lines.join("")).not.toMatch(/eyJ|"code":"[\da-f]{8}-/);
  });

  test("in a browser that has not begun it", async () => {
    const { answered } = await logIn(openConsole(), true);
    expect([answered.statusCode, cookieOf(answered.headers, "console")]).toEqual([401, undefined]);
  });

  test("the second time, and ten minutes after it began", async () => {
    let now = 0;
    const city = openConsole({ now: () => now });
    const { answered, answer } = await logIn(city);
    expect([answered.statusCode, (await answer()).statusCode]).toEqual([200, 401]);
    const begun = await city.get("/sign-in");
    const [cookie = ""] = cookieOf(begun.headers, "console-sign-in")?.split(";") ?? [];
    const { headers } = await fetch(String(begun.headers.location), { redirect: "manual" });
    now += 600_000;
    const late = await city.get(`/callback${new URL(headers.get("location") ?? "").search}`, { cookie });
    expect(late.statusCode).toBe(401);
  });
});

test("over TLS, which something in front of the task terminates, all cookies have Secure, and the issuer answers there", async () => {
  const overTls = { "x-forwarded-proto": "https" };
  const city = openConsole();
  const { answered, cookie } = await logIn(city, false, overTls);
  const { headers } = await city.get("/language/id", overTls);
  const cookies = [cookie, ...[answered.headers["set-cookie"], headers["set-cookie"]].flat()];
  // the attempt, its end, the login and the language
  expect(cookies).toEqual(Array(4).fill(expect.stringMatching(/; Secure$/)));
  expect(issuer.asked[0]?.get("redirect_uri")).toBe(`https://${host}/console/callback`);
});

test("an account is recorded by issuer and subject, whatever name it has chosen", async () => {
  const begun: unknown[] = [];
  const record = async (person: unknown) => void begun.push(person);
  const city = openConsole({ acts: { begin: async () => 1, end: async () => {}, record } });
  issuer.failureMode = { claims: { preferred_username: "admin" } };
  await logIn(city);
  expect(begun).toEqual([{ id: `${issuer.url} 5a2c8e01`, name: "admin", role: "operator" }]);
});

test("a login that another site begins goes to the login page, and the issuer is not asked", async () => {
  const { headers } = await openConsole().get("/sign-in", { "sec-fetch-site": "cross-site" });
  expect(headers.location).toBe("/console/login");
  expect(headers["set-cookie"]).toBeUndefined();
});

test("an issuer that is down is named, and asked again at the next attempt", async () => {
  const city = openConsole();
  issuer.failureMode = { isDown: true };
  const down = await city.get("/sign-in");
  expect([down.statusCode, down.body]).toEqual([503, expect.stringContaining("is not responding")]);
  issuer.failureMode = {};
  expect((await logIn(city)).answered.statusCode).toBe(200);
});

test("the client's secret is read at the first login, and again after it could not be read", async () => {
  let isDown = true;
  const findClientSecret = () =>
    isDown ? Promise.reject(new Error("10.1.2.3")) : Promise.resolve(undefined);
  const city = openConsole({}, { findClientSecret });
  const failed = await city.get("/sign-in");
  expect([failed.statusCode, failed.body]).toEqual([503, expect.stringContaining("Secrets Manager is not")]);
  isDown = false;
  expect((await logIn(city)).answered.statusCode).toBe(200);
});
