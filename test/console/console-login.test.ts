import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { LocalUser } from "#lib/console/login/local-users.ts";
import type { Role } from "#lib/console/login/roles.ts";
import { isPasswordOf } from "#lib/password-hash.ts";
import { operator, userOf } from "../steps/console.ts";
import { actions, host, open, openLoggedIn, ownPage } from "./console-browser.ts";

vi.mock(import("#lib/password-hash.ts"), { spy: true });

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

  test("sets and deletes the cookie with Secure where something in front of the task serves TLS", async () => {
    const { post } = open();
    const overTls = { ...ownPage, origin: `https://${host}` };
    const begun = await post("/login", operator, overTls);
    expect(begun.headers["set-cookie"]).toMatch(/; Max-Age=28800; Secure$/);
    const ended = await post("/logout", {}, overTls);
    expect(ended.headers["set-cookie"]).toMatch(/^console=; .*; Max-Age=0; Secure$/);
  });

  test("accepts each operator with their own password", async () => {
    const next = { username: "sari", password: "next" };
    const { post } = open({ findUsers: async () => [await userOf(), await userOf(next)] });
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
      findUsers: async () => [
        await userOf(),
        await userOf({ username: "other operator", password: "of another" }),
      ],
    });
    const { statusCode, headers, body } = await post("/login", fields as Record<string, string>);
    expect([statusCode, headers["set-cookie"]]).toEqual([401, undefined]);
    expect(body).toContain("Username or password is wrong.");
  });

  test("of the right password succeeds after wrong ones, from the same address", async () => {
    const { post } = open();
    const wrong = { ...operator, password: "wrong" };
    const rejected = await Promise.all(Array.from({ length: 30 }, () => post("/login", wrong)));
    expect(rejected.every(({ statusCode }) => statusCode === 401)).toBe(true);
    expect((await post("/login", operator)).statusCode).toBe(303);
  });

  test("checks five attempts at once, then one per second, and rejects those that would wait over 30 s", async () => {
    let now = 1_000_000;
    const waits: number[] = [];
    const { post } = open({ now: () => now, wait: async (ms) => waits.push(ms) });
    const statuses: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      const { statusCode, headers } = await post("/login", { ...operator, password: "wrong" });
      statuses.push(statusCode);
      expect(headers["retry-after"]).toBe(statusCode === 429 ? "30" : undefined);
    }
    expect(waits).toEqual(Array.from({ length: 30 }, (_, n) => (n + 1) * 1_000));
    expect(statuses).toEqual([...Array(35).fill(401), ...Array(5).fill(429)]);
    now += 30_000;
    expect((await post("/login", operator)).statusCode).toBe(303);
    expect(waits.at(-1)).toBe(1_000);
  });

  test("checks one password at a time, and rejects more where the checks take too long", async () => {
    let now = 1_000_000;
    const held = Promise.withResolvers<boolean>();
    const counts = { waits: 0, checks: 0 };
    vi.mocked(isPasswordOf).mockImplementation(() => {
      counts.checks += 1;
      return held.promise;
    });
    onTestFinished(() => void vi.mocked(isPasswordOf).mockRestore());
    const { post } = open({
      now: () => now,
      wait: async () => {
        counts.waits += 1;
      },
    });
    const answers = Array.from({ length: 35 }, () => post("/login", operator));
    await expect.poll(() => counts).toEqual({ waits: 30, checks: 1 });
    now += 60_000;
    const { statusCode, body } = await post("/login", operator);
    expect([statusCode, counts.checks]).toEqual([429, 1]);
    expect(body).toContain("Too many attempts; try again in 30 seconds.");
    held.resolve(true);
    expect((await Promise.all(answers)).map((answer) => answer.statusCode)).toEqual(Array(35).fill(303));
  });

  test("is not held up by another one for which reading the operators takes long", async () => {
    const users = [await userOf()];
    const held = Promise.withResolvers<typeof users>();
    const reads = [held.promise, Promise.resolve(users)];
    const { post } = open({ findUsers: () => reads.shift() ?? expect.fail("read too often") });
    const slow = post("/login", operator);
    await expect.poll(() => reads).toHaveLength(1);
    expect((await post("/login", operator)).statusCode).toBe(303);
    held.resolve(users);
    expect((await slow).statusCode).toBe(303);
  });

  test("is neither delayed nor prolonged by a clock that is set back an hour", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { get, logIn } = await openLoggedIn();
    vi.setSystemTime(Date.now() - 60 * minuteMs);
    expect((await logIn()).statusCode).toBe(303);
    vi.advanceTimersByTime(15 * minuteMs);
    expect((await get()).statusCode).toBe(303);
  });

  test("reports that the credentials cannot be checked, without details of the error", async () => {
    const { post } = open({
      findUsers: async () => {
        throw new Error("connect ECONNREFUSED 10.1.2.3");
      },
    });
    const { statusCode, body } = await post("/login", operator);
    expect(statusCode).toBe(503);
    expect(body).toContain("Secrets Manager is not responding");
    expect(body).not.toContain("ECONNREFUSED");
  });

  test.each<[string, (user: LocalUser) => Promise<LocalUser[]>, number]>([
    ["ends when its operator is removed", async () => [], 303],
    ["ends when its password is replaced", async () => [await userOf()], 303],
    ["remains while its operator does", async (user) => [user], 200],
    ["remains while the credentials cannot be read", () => Promise.reject(new Error("down")), 200],
  ])("%s", async (_, find, status) => {
    const user = await userOf();
    let findUsers = async () => [user];
    const { get, post, messenger } = await openLoggedIn({ findUsers: () => findUsers() });
    findUsers = () => find(user);
    expect((await get()).statusCode).toBe(status);
    await post("/pause");
    expect(messenger.calls).toEqual(status === 200 ? ["pause"] : []);
  });

  test("has the role of now, not that of its beginning", async () => {
    const user = await userOf();
    let role: Role = "admin";
    const { post, messenger } = await openLoggedIn({ findUsers: async () => [{ ...user, role }] });
    role = "viewer";
    await post("/pause");
    expect([messenger.calls, messenger.acts.at(-1)]).toEqual([[], "operator pause denied"]);
  });

  test("ends at logout, for copies of the cookie too", async () => {
    const { post, get, browser } = await openLoggedIn();
    const { cookie } = browser;
    const { headers } = await post("/logout");
    expect([headers.location, browser.cookie]).toEqual(["/console/login", ""]);
    browser.cookie = cookie;
    expect((await get()).statusCode).toBe(303);
  });

  test("ends after 15 minutes in which the operator does nothing, although the page polls", async () => {
    let now = 0;
    const { get, post } = await openLoggedIn({ now: () => now });
    now += 15 * minuteMs - 1;
    expect((await post("/pause")).headers.location).toBe("/console");
    now += 15 * minuteMs - 1;
    expect((await get("", { "x-idle": "1" })).statusCode).toBe(200);
    now += 1;
    expect((await get("", { "x-idle": "1" })).statusCode).toBe(303);
    expect((await post("/pause")).headers.location).toBe("/console/login");
  });

  test("ends after eight hours, whatever the operator does", async () => {
    let now = 0;
    const { get } = await openLoggedIn({ now: () => now });
    for (let n = 1; n < 8 * 6; n += 1) {
      now += 10 * minuteMs;
      expect((await get()).statusCode).toBe(200);
    }
    now += 10 * minuteMs - 1;
    expect((await get()).statusCode).toBe(200);
    now += 1;
    expect((await get()).statusCode).toBe(303);
  });
});

describe("a request to another name is rejected, also when it resolves to this machine", () => {
  test.each(["rebound.example", "rebound.example:8080", "localhost.example:8080", "10.0.0.9:8080", "a b"])(
    "%j",
    async (other) => {
      const { server, browser, messenger } = await openLoggedIn();
      const headers = { cookie: browser.cookie, host: other, origin: `http://${other}` };
      for (const [method, path] of [
        ["GET", ""],
        ["GET", "/login"],
        ["POST", "/pause"],
      ] as const) {
        const { statusCode, body } = await server.inject({ method, url: `/console${path}`, headers });
        expect([statusCode, body]).toEqual([403, expect.stringContaining("http://localhost")]);
      }
      expect(messenger.calls).toEqual([]);
    },
  );

  test.each(["localhost", "localhost:18080", "127.0.0.1:8080", "[::1]:8080"])(
    "but %s is not",
    async (own) => {
      const { server } = open();
      const { statusCode } = await server.inject({ url: "/console/login", headers: { host: own } });
      expect(statusCode).toBe(200);
    },
  );
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
