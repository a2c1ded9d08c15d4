import { describe, expect, test } from "vitest";
import { operator } from "../../steps/console.ts";
import { actions, host, open, openLoggedIn, ownPage } from "./console-browser.ts";

const minuteMs = 60_000;

describe("without login", () => {
  test("the state is not shown", async () => {
    const { get } = open();
    const { statusCode, headers, body } = await get();
    expect([statusCode, headers.location, body]).toEqual([303, "/console/login", ""]);
  });

  test.each(actions)("%s does nothing", async (path) => {
    const { post, messenger } = open();
    const { statusCode, headers } = await post(path, { phone: "6281200000001", confirmation: "unlink" });
    expect([statusCode, headers.location, messenger.calls]).toEqual([303, "/console/login", []]);
  });

  test("an invented cookie is rejected", async () => {
    const { get, browser } = open();
    browser.cookie = "console=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    expect((await get()).statusCode).toBe(303);
  });

  test.each([
    ["/login", "text/html; charset=utf-8"],
    ["/console.css", "text/css; charset=utf-8"],
    ["/console.js", "text/javascript; charset=utf-8"],
    ["/idiomorph.js", "text/javascript; charset=utf-8"],
    ["/icon.svg", "image/svg+xml"],
  ])("%s is served", async (path, type) => {
    const { statusCode, headers } = await open().get(path);
    expect([statusCode, headers["content-type"]]).toEqual([200, type]);
  });
});

describe("login", () => {
  test("sets a cookie that scripts and other sites cannot use", async () => {
    const { logIn, get } = open();
    const { statusCode, headers } = await logIn();
    expect([statusCode, headers.location]).toEqual([303, "/console"]);
    expect(headers["set-cookie"]).toMatch(
      /^console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
    const { body } = await get();
    expect(body).toContain("Connected");
  });

  test("accepts both credentials during a rotation", async () => {
    const next = { username: "operator", password: "next" };
    const { post } = open({ findCredentials: async () => [operator, next] });
    expect((await post("/login", next)).statusCode).toBe(303);
    expect((await post("/login", operator)).statusCode).toBe(303);
  });

  test.each([
    ["a wrong password", { ...operator, password: "wrong" }],
    ["a wrong username", { ...operator, username: "other" }],
    ["nothing", {}],
    ["a password of another credential", { ...operator, password: "of another" }],
  ])("rejects %s with the same message", async (_, fields) => {
    const { post } = open({
      findCredentials: async () => [operator, { username: "other operator", password: "of another" }],
    });
    const { statusCode, headers, body } = await post("/login", fields as Record<string, string>);
    expect([statusCode, headers["set-cookie"]]).toEqual([401, undefined]);
    expect(body).toContain("Username or password is wrong.");
  });

  test("is blocked after five failures from one address, even with the right password", async () => {
    let now = 1_000_000;
    const { post } = open({ now: () => now });
    const attempt = (password: string, address?: string) =>
      post("/login", { ...operator, password }, ownPage, address).then(({ statusCode }) => statusCode);
    for (let n = 0; n < 5; n += 1) expect(await attempt("wrong")).toBe(401);
    const { statusCode, headers, body } = await post("/login", operator);
    expect([statusCode, headers["retry-after"]]).toEqual([429, "300"]);
    expect(body).toContain("Too many attempts. Try again in 300 seconds.");
    expect(await attempt(operator.password, "10.0.0.9")).toBe(303);
    now += 5 * minuteMs;
    expect(await attempt(operator.password)).toBe(303);
  });

  test("checks five of fifty concurrent attempts", async () => {
    const { post } = open();
    const wrong = { ...operator, password: "wrong" };
    const statuses = await Promise.all(Array.from({ length: 50 }, () => post("/login", wrong)));
    expect(statuses.filter(({ statusCode }) => statusCode === 401)).toHaveLength(5);
  });

  test("does not count attempts that succeeded or could not be checked", async () => {
    let isAway = true;
    const { post } = open({
      findCredentials: async () => {
        if (isAway) throw new Error("connect ECONNREFUSED 10.1.2.3");
        return [operator];
      },
    });
    for (let n = 0; n < 6; n += 1) {
      const { statusCode, body } = await post("/login", operator);
      expect(statusCode).toBe(503);
      expect(body).toContain("Secrets Manager is not responding");
      expect(body).not.toContain("ECONNREFUSED");
    }
    isAway = false;
    for (let n = 0; n < 6; n += 1) expect((await post("/login", operator)).statusCode).toBe(303);
  });

  test("ends at logout, for copies of the cookie too", async () => {
    const { post, get, browser } = await openLoggedIn();
    const { cookie } = browser;
    const { headers } = await post("/logout");
    expect([headers.location, browser.cookie]).toEqual(["/console/login", ""]);
    browser.cookie = cookie;
    expect((await get()).statusCode).toBe(303);
  });

  test("ends after eight hours", async () => {
    let now = 0;
    const { get } = await openLoggedIn({ now: () => now });
    now += 8 * 60 * minuteMs - 1;
    expect((await get()).statusCode).toBe(200);
    now += 1;
    expect((await get()).statusCode).toBe(303);
  });
});

describe("a POST from another page is rejected", () => {
  test.each<[string, Record<string, string>]>([
    ["without any origin", { host }],
    ["from another site", { host, origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["from another port", { host, origin: "http://localhost:3000", "sec-fetch-site": "same-site" }],
    ["with an opaque origin", { host, origin: "null" }],
    ["whose two headers differ", { host, origin: `http://${host}`, "sec-fetch-site": "cross-site" }],
    ["from a typed URL", { host, "sec-fetch-site": "none" }],
  ])("%s", async (_, headers) => {
    const { post, messenger } = await openLoggedIn();
    for (const path of [...actions, "/login", "/logout"]) {
      const { statusCode, body } = await post(path, { ...operator, confirmation: "unlink" }, headers);
      expect([path, statusCode]).toEqual([path, 403]);
      expect(body).toContain("Rejected");
    }
    expect(messenger.calls).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ["an origin alone", { host, origin: `http://${host}` }],
    ["the fetch site alone", { host, "sec-fetch-site": "same-origin" }],
  ])("but %s is enough", async (_, headers) => {
    const { post } = await openLoggedIn();
    expect((await post("/pause", {}, headers)).headers.location).toBe("/console");
  });
});
