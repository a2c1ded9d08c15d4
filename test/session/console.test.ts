import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Fault } from "#lib/http/fault.ts";
import type { ConsoleOptions } from "#lib/session/console/console.ts";
import { readConsoleState } from "#lib/session/console/state.ts";
import { setPaused } from "#lib/session/queue.ts";
import { connected, createConsole, operator, pairing, qrText } from "../steps/console.ts";
import { createSessionDatabase } from "../steps/session-database.ts";

const host = "localhost:8080";
const ownPage = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
const minuteMs = 60_000;

let lines: string[];
beforeEach(() => {
  lines = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  onTestFinished(() => spy.mockRestore());
});

/** A console and how a browser talks to it; `browser.cookie` is what the browser keeps. */
const open = (more: Partial<ConsoleOptions> = {}) => {
  const { server, session } = createConsole(more);
  onTestFinished(() => server.close());
  const browser = { cookie: "" };
  const keep = (setCookie: string) => {
    const [pair = ""] = setCookie.split(";");
    browser.cookie = /Max-Age=0/.test(setCookie) ? "" : pair;
  };
  const get = (path = "") =>
    server.inject({ url: `/console${path}`, headers: { host, cookie: browser.cookie } });
  const post = async (
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = ownPage,
    remoteAddress = "127.0.0.1",
  ) => {
    const response = await server.inject({
      method: "POST",
      url: `/console${path}`,
      headers: { cookie: browser.cookie, "content-type": "application/x-www-form-urlencoded", ...headers },
      payload: new URLSearchParams(fields).toString(),
      remoteAddress,
    });
    if (response.headers["set-cookie"]) keep(String(response.headers["set-cookie"]));
    return response;
  };
  return { server, session, browser, get, post, logIn: () => post("/login", operator) };
};

const openLoggedIn = async (more?: Partial<ConsoleOptions>) => {
  const city = open(more);
  await city.logIn();
  return city;
};

const actions = ["/pause", "/resume", "/pairing-code", "/unlink"];

describe("without login", () => {
  test("nothing of the state is shown", async () => {
    const { get } = open();
    const { statusCode, headers, body } = await get();
    expect([statusCode, headers.location, body]).toEqual([303, "/console/login", ""]);
  });

  test.each(actions)("%s does nothing", async (path) => {
    const { post, session } = open();
    const { statusCode, headers } = await post(path, { phone: "6281200000001", confirmation: "unlink" });
    expect([statusCode, headers.location, session.calls]).toEqual([303, "/console/login", []]);
  });

  test("a cookie that was made up is worth nothing", async () => {
    const { get, browser } = open();
    browser.cookie = "console=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    expect((await get()).statusCode).toBe(303);
  });

  test.each([
    ["/login", "text/html; charset=utf-8"],
    ["/console.css", "text/css; charset=utf-8"],
    ["/console.js", "text/javascript; charset=utf-8"],
    ["/icon.svg", "image/svg+xml"],
  ])("%s is served", async (path, type) => {
    const { statusCode, headers } = await open().get(path);
    expect([statusCode, headers["content-type"]]).toEqual([200, type]);
  });
});

describe("login", () => {
  test("gives a cookie that no script and no other site can use", async () => {
    const { logIn, get } = open();
    const { statusCode, headers } = await logIn();
    expect([statusCode, headers.location]).toEqual([303, "/console"]);
    expect(headers["set-cookie"]).toMatch(
      /^console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
    const { body } = await get();
    expect(body).toContain("Connected");
  });

  test("takes both credentials while they are rotated", async () => {
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
  ])("refuses %s in the same words", async (_, fields) => {
    const { post } = open({
      findCredentials: async () => [operator, { username: "other operator", password: "of another" }],
    });
    const { statusCode, headers, body } = await post("/login", fields as Record<string, string>);
    expect([statusCode, headers["set-cookie"]]).toEqual([401, undefined]);
    expect(body).toContain("Username or password is wrong.");
  });

  test("waits after five failures from one address, also with the right password", async () => {
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

  test("judges five of fifty attempts at the same time", async () => {
    const { post } = open();
    const wrong = { ...operator, password: "wrong" };
    const statuses = await Promise.all(Array.from({ length: 50 }, () => post("/login", wrong)));
    expect(statuses.filter(({ statusCode }) => statusCode === 401)).toHaveLength(5);
  });

  test("does not count what succeeded, or could not be judged", async () => {
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
      expect(body).toContain("Secrets Manager does not answer");
      expect(body).not.toContain("ECONNREFUSED");
    }
    isAway = false;
    for (let n = 0; n < 6; n += 1) expect((await post("/login", operator)).statusCode).toBe(303);
  });

  test("ends at logout, for a copy of the cookie as well", async () => {
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

describe("a POST that the console's own page has not sent is refused", () => {
  test.each<[string, Record<string, string>]>([
    ["without any origin", { host }],
    ["from another site", { host, origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["from another port", { host, origin: "http://localhost:3000", "sec-fetch-site": "same-site" }],
    ["with an opaque origin", { host, origin: "null" }],
    ["whose two headers differ", { host, origin: `http://${host}`, "sec-fetch-site": "cross-site" }],
    ["by a link that was typed", { host, "sec-fetch-site": "none" }],
  ])("%s", async (_, headers) => {
    const { post, session } = await openLoggedIn();
    for (const path of [...actions, "/login", "/logout"]) {
      const { statusCode, body } = await post(path, { ...operator, confirmation: "unlink" }, headers);
      expect([path, statusCode]).toEqual([path, 403]);
      expect(body).toContain("Refused");
    }
    expect(session.calls).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ["an origin alone", { host, origin: `http://${host}` }],
    ["the fetch site alone", { host, "sec-fetch-site": "same-origin" }],
  ])("but %s is enough", async (_, headers) => {
    const { post } = await openLoggedIn();
    expect((await post("/pause", {}, headers)).headers.location).toBe("/console");
  });
});

describe("an action", () => {
  test.each<[string, Record<string, string>, string[], string]>([
    ["/pause", {}, ["pause"], "Sending is paused."],
    ["/resume", {}, ["resume"], "Sending is resumed."],
    [
      "/pairing-code",
      { phone: "+62 (812) 3456-7890" },
      ["pairing code for 6281234567890"],
      "The pairing code is K7PX-2QWM.",
    ],
    ["/pairing-code", { phone: "0812345678" }, [], "That is not a phone number"],
    ["/pairing-code", {}, [], "That is not a phone number"],
    ["/unlink", { confirmation: " Unlink" }, ["unlink"], "The phone is unlinked."],
    ["/unlink", { confirmation: "yes" }, [], "Nothing was unlinked"],
    ["/unlink", {}, [], "Nothing was unlinked"],
  ])("%s with %j does %j and says what came of it", async (path, fields, calls, notice) => {
    const { post, get, session } = await openLoggedIn();
    const { statusCode, headers } = await post(path, fields);
    expect([statusCode, headers.location, session.calls]).toEqual([303, "/console", calls]);
    expect((await get()).body).toContain(notice);
  });

  test("that is refused says why", async () => {
    const { post, get } = await openLoggedIn({
      requestPairingCode: async () => {
        throw new Fault(409, "conflict", "A phone is linked already.");
      },
    });
    await post("/pairing-code", { phone: "6281234567890" });
    expect((await get()).body).toContain("A phone is linked already.");
  });

  test.each([
    ["/pause", "the database does not answer"],
    ["/resume", "the database does not answer"],
    ["/pairing-code", "WhatsApp gave no pairing code"],
    ["/unlink", "WhatsApp or the database does not answer"],
  ])("%s that fails names the part that is away, and nothing of the error", async (path, said) => {
    const fail = async () => {
      throw new Error("password authentication failed for 10.1.2.3");
    };
    const { post, get } = await openLoggedIn({ setPaused: fail, requestPairingCode: fail, unlink: fail });
    await post(path, { phone: "6281234567890", confirmation: "unlink" });
    const { body } = await get();
    expect(body).toContain(said);
    expect(body).not.toContain("10.1.2.3");
  });

  test("wants a form", async () => {
    const { server, browser, session } = await openLoggedIn();
    const headers = { ...ownPage, cookie: browser.cookie, "content-type": "application/json" };
    const { statusCode } = await server.inject({
      method: "POST",
      url: "/console/unlink",
      headers,
      payload: '{"confirmation":"unlink"}',
    });
    expect([statusCode, session.calls]).toEqual([415, []]);
    const { statusCode: tooLarge } = await server.inject({
      method: "POST",
      url: "/console/unlink",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      payload: `confirmation=unlink&more=${"x".repeat(5_000)}`,
    });
    expect([tooLarge, session.calls]).toEqual([413, []]);
  });
});

test("every answer carries the headers that protect the page", async () => {
  const { get, post } = await openLoggedIn();
  const answers = [
    ...(await Promise.all(["", "/login", "/console.css", "/console.js", "/nowhere"].map(get))),
    await post("/pause"),
    await post("/pause", {}, { host }),
    await post("/login", {}),
  ];
  for (const { headers } of answers)
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      ),
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    });
  for (const { headers } of answers)
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
});

test("the page has no inline script or style", async () => {
  const { get, session } = await openLoggedIn();
  for (const state of [connected(), pairing()]) {
    session.state = state;
    const { body } = await get();
    expect(body).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son[a-z]+=/i);
  }
});

test("what comes from elsewhere is shown as text", async () => {
  const { get, session } = await openLoggedIn();
  const [message] = session.state.messages;
  if (!message) throw new Error("no message");
  const reason = `<img src=x onerror="alert('1')">&amp;`;
  session.state = { ...session.state, messages: [{ ...message, state: "FAILED", reason }] };
  const { body } = await get();
  expect(body).toContain("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;");
  expect(body).not.toContain("<img");
});

test("says that the state cannot be read", async () => {
  const { get } = await openLoggedIn({ readState: () => Promise.reject(new Error("10.1.2.3")) });
  const { statusCode, body } = await get();
  expect(statusCode).toBe(200);
  expect(body).toContain("its state cannot be read");
  expect(body).not.toContain("10.1.2.3");
});

test("offers linking and unlinking at the task that leads alone", async () => {
  const { get, session } = await openLoggedIn();
  session.state = { ...pairing(), leader: false };
  const { body } = await get();
  expect(body).toContain("Another task drives the session");
  expect(body).toMatch(/<section id="linking"[^>]* hidden>/);
  expect(body).toMatch(/<section id="unlinking"[^>]* hidden>/);
  expect(body).not.toContain('class="qr"');
});

test("no password, cookie, code or number reaches the log", async () => {
  const { post, get, browser } = await openLoggedIn();
  await post("/login", { username: "typed a passphrase here", password: "wrong one" });
  await post("/pairing-code", { phone: "6281234567890" });
  await get();
  const log = lines.join("");
  expect(log).toContain("operator logged in");
  expect(log).toContain('"action":"pairing-code"');
  for (const secret of [
    operator.password,
    "passphrase",
    "wrong one",
    browser.cookie.slice(8),
    "K7PX",
    "62812345",
  ])
    expect(log).not.toContain(secret);
  expect(log).not.toContain(qrText);
});

describe("the state of the outbox", () => {
  const own = { connection: { kind: "open", since: "2026-01-01T00:00:00Z" }, leader: true } as const;

  test("has the queue and the last fifty messages, with masked numbers and without text", async () => {
    const sql = (await createSessionDatabase()).connect(3);
    await sql`
      insert into messaging.message (id, kind, phone, content, expires_at, accepted_at)
      select 'm' || n, 'text', '628120000' || lpad(n::text, 4, '0'), '{"text":"a secret"}',
        now() + interval '1 day', now() - interval '90 seconds'
      from generate_series(1, 60) n`;
    await sql`update messaging.message set state = 'FAILED', reason = 'because', attempts = 1 where id = 'm60'`;
    await setPaused(sql, true);
    const state = await readConsoleState(sql, own);
    expect(state).toMatchObject({ ...own, paused: true });
    expect(state.databaseAway).toBeUndefined();
    expect(state.queue).toEqual([{ state: "PENDING", count: 59, oldestSeconds: expect.closeTo(90, -1) }]);
    expect(state.messages.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `m${60 - n}`));
    expect(state.messages[0]).toEqual({
      id: "m60",
      kind: "text",
      phone: "6281•••••••60",
      state: "FAILED",
      reason: "because",
      attempts: 1,
      acceptedAt: expect.any(Date),
      changedAt: expect.any(Date),
    });
    expect(JSON.stringify(state)).not.toContain("secret");
    await setPaused(sql, false);
    expect((await readConsoleState(sql, own)).paused).toBe(false);
  });

  test("has the last ten runs of jobs that had somebody to tell or failed, with their messages by state", async () => {
    const { connect, admin } = await createSessionDatabase();
    const sql = connect(3);
    await admin`
      insert into notification.run (job, scheduled_at, state, reason, accepted, opted_out)
      select 'daily', now() - n * interval '1 hour', case n when 2 then 'failed' else 'done' end,
        case n when 2 then 'because' end, case when n in (1, 2) then 0 else 3 end, 0
      from generate_series(1, 14) n`;
    await admin`
      insert into messaging.message (id, kind, phone, content, expires_at, state, run)
      select 'm' || n, 'text', '6281200000001', '{}', now(), case n when 1 then 'PENDING' else 'SENT' end,
        (select id from notification.run order by scheduled_at desc offset 2 limit 1)
      from generate_series(1, 3) n`;
    const { runs } = await readConsoleState(sql, own);
    expect(runs.map(({ state, reason, accepted }) => [state, reason, accepted]).slice(0, 2)).toEqual([
      ["failed", "because", 0],
      ["done", null, 3],
    ]);
    expect(runs).toHaveLength(10);
    expect(runs.map(({ messages }) => messages).slice(0, 3)).toEqual([{}, { PENDING: 1, SENT: 2 }, {}]);
  });

  test("masks the shortest number as well", async () => {
    const sql = (await createSessionDatabase()).connect(3);
    await sql`
      insert into messaging.message (id, kind, phone, content, expires_at)
      values ('m', 'text', '62812345', '{}', now() + interval '1 day')`;
    expect((await readConsoleState(sql, own)).messages[0]?.phone).toBe("6281••45");
  });

  test("is told to be unknown while the database is away, or hangs", async () => {
    const { connect, admin } = await createSessionDatabase();
    const away = connect(1);
    await away.end();
    const unknown = { ...own, paused: false, queue: [], messages: [], runs: [], databaseAway: true };
    expect(await readConsoleState(away, own)).toEqual(unknown);
    const hanging = connect(3);
    await hanging`select 1`;
    await admin.begin(async (transaction) => {
      await transaction`lock table messaging.message in access exclusive mode`;
      expect(await readConsoleState(hanging, own)).toEqual(unknown);
    });
    await expect.poll(() => readConsoleState(hanging, own)).not.toHaveProperty("databaseAway");
  });
});
