import { describe, expect, onTestFinished, test, vi } from "vitest";
import { setDefaults } from "#lib/config.ts";
import { listAlerts } from "#lib/console/panels/alerts.ts";
import type { CallbackSummary } from "#lib/console/panels/callbacks.ts";
import type { Connection, ConsoleState } from "#lib/console/state.ts";
import type { View } from "#lib/console/view.ts";
import { type Language, languages, textKeys } from "#lib/console/words.ts";
import { listAnchors, readGuide } from "../../infra/docs/guide.ts";
import { connected } from "../steps/console-state.ts";
import { openLoggedIn } from "./console-browser.ts";

const now = new Date("2030-01-31T20:00:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);
const well = (): ConsoleState => {
  const state = connected();
  const callbacks = state.callbacks.filter(({ failures }) => failures === 0);
  return { ...state, callbacks, runs: [], failedJobs: [] };
};
const with_ = (connection: Partial<Connection>): ConsoleState => ({
  ...well(),
  connection: { kind: "open", since: ago(3_600).toISOString(), ...connection },
});
const alertsOf = (state: ConsoleState | undefined, language: Language = "en") => {
  const operator = { id: "sari", name: "sari", role: "viewer" as const };
  const say = languages[language];
  const view: View = { operator, state, filter: {}, notice: undefined, now, language, say };
  return listAlerts(view);
};
const due = {
  paused: 0,
  ...{ pending: 1, sending: 0 },
  ...{ oldest_seconds: 0, oldest_urgent_seconds: 0, callback_seconds: 0 },
} as const;

const failures = {
  ...{ ended: 10, failed: 0, codes: [], senders: ["api:tax"], accounts: ["main"], since: undefined },
};

const callbackThat = (fails: Partial<CallbackSummary>): ConsoleState => {
  const [callback = expect.fail("has no callback")] = well().callbacks;
  return { ...well(), callbacks: [{ ...callback, id: 1, failures: 2, ...fails }] };
};

describe("what is wrong has its start and what to do", () => {
  test.each<[string, ConsoleState | undefined, string, RegExp, number | undefined]>([
    ["state", undefined, "its state cannot be read", /log/, undefined],
    [
      "unavailable",
      { ...well(), unread: "unavailable" },
      "is unavailable",
      /why the database does not answer/,
      undefined,
    ],
    ["slow", { ...well(), unread: "slow" }, "takes longer than 2 s", /busy/, undefined],
    ["pairing", with_({ kind: "pairing" }), "No phone is linked", /Link a phone/, 3_600],
    [
      "passkey",
      with_({ kind: "pairing", passkey: true }),
      "requires the account's passkey",
      /Do not scan/,
      3_600,
    ],
    [
      "callback-1",
      callbackThat({ disabledAt: ago(600) }),
      "tax-office at events.city.example has answered 410",
      /npm run city -- callback list tax-office/,
      600,
    ],
    [
      "callback-1",
      callbackThat({ redirects: true, oldest: ago(60) }),
      "answers with a redirect",
      /list tax/,
      60,
    ],
    [
      "callback-1",
      callbackThat({ lastStatus: 503, oldest: ago(3_600) }),
      "fails",
      /callback test tax-/,
      3_600,
    ],
    ["stopped", with_({ kind: "stopped", answer: 403 }), "(code 403)", /follow its instructions/, 3_600],
    [
      "banned",
      with_({ kind: "closed", answer: 402, retryAt: "2030-02-02T03:30:00Z" }),
      "before 2 Feb 2030 10:30 (WIB)",
      /send less/,
      3_600,
    ],
    ["replaced", with_({ kind: "replaced" }), "Another program", /Stop that program/, 3_600],
    ["disconnected", with_({ kind: "closed", answer: 503 }), "unavailable", /reconnects/, 3_600],
    [
      "disconnected",
      with_({ kind: "closed", answer: 408 }),
      "Cannot reach WhatsApp. Nothing",
      /reconnects/,
      3_600,
    ],
    [
      "disconnected",
      with_({ kind: "closed", answer: 408, unlinked: true }),
      "No phone scanned the QR code in time",
      /Link a phone/,
      3_600,
    ],
    ["unlinked", with_({ kind: "stopped", answer: 401 }), "(code 401)", /Pair again/, 3_600],
    ["rejected", with_({ kind: "rejected", answer: 190 }), "code 190", /Correct the account/, 3_600],
    [
      "failing",
      { ...well(), failures: { ...failures, failed: 7, codes: ["463", "400"], since: ago(300) } },
      "7 of the last 10 messages failed: 463, 400. Senders: api:tax. Accounts: main.",
      /page “Messages”/,
      300,
    ],
    ["paused", { ...well(), paused: true, pausedSince: ago(60) }, "paused", /Resume sending/, 60],
    [
      "paused",
      { ...well(), paused: true, pausedSince: ago(60), pausedBy: "Sari" },
      "Sari paused sending",
      /Ask Sari/,
      60,
    ],
    [
      "urgentOld",
      { ...well(), due: { ...due, oldest_seconds: 900, oldest_urgent_seconds: 600 } },
      "waited for 10 min",
      /page “Messages”/,
      600,
    ],
    ["old", { ...well(), due: { ...due, oldest_seconds: 86_400 } }, "waited for 1 d", /stop/, 86_400],
    [
      "limited",
      { ...well(), limits: { pausedSeconds: 1_800 }, limitedSince: ago(7_200) },
      "until 03:30 (WIB)",
      /Stop bulk/,
      7_200,
    ],
    [
      "tooFast",
      { ...well(), limits: { stoppedSeconds: 1_800 }, stoppedSince: ago(600) },
      "nothing is sent until 03:30 (WIB)",
      /Stop bulk/,
      600,
    ],
    [
      "mediaOutage",
      { ...well(), limits: { outages: [{ service: "media", seconds: 30, ageSeconds: 120 }] } },
      "media servers accept no uploads; images and files stay queued",
      /an hour/,
      120,
    ],
  ])("%s", (name, state, what, todo, seconds) => {
    const found = alertsOf(state);
    expect(found.map((alert) => alert.name)).toEqual([name]);
    expect(found[0]?.what).toContain(what);
    expect(found[0]?.todo).toMatch(todo);
    expect(found[0]?.since).toEqual(seconds === undefined ? undefined : ago(seconds));
    for (const { effect, guide } of found) {
      expect(
        textKeys.filter((key) => key.startsWith("alerts.effects.")).map((key) => languages.en(key)),
      ).toContain(effect);
      const [page = "", anchor] = guide.split("#");
      expect(listAnchors(readGuide(page, "en"))).toContain(anchor);
    }
  });

  test("says that other accounts may send the messages of one that cannot", () => {
    const [main] = connected().accounts;
    const accounts = ["main", "tax"].map((name) => ({ ...main, name }) as NonNullable<typeof main>);
    const [alert] = alertsOf({ ...with_({ kind: "pairing" }), accounts });
    expect(alert?.effect).toContain("unless another account of its pool sends them");
  });

  test("leads to its section of the runbook, of the page's language, where the address is known", async () => {
    const linked = async (language: string) => {
      const { get, messenger } = await openLoggedIn();
      messenger.state = { ...well(), paused: true };
      return (await get("", { "accept-language": language })).body;
    };
    expect(await linked("en")).toContain("See <code>/docs/runbook#sending-paused</code>");
    vi.stubEnv("INTEGRATION_ADDRESS", "https://api.city.example/prod");
    setDefaults({}); // settings are read once
    onTestFinished(() => {
      vi.unstubAllEnvs();
      setDefaults({});
    });
    expect(await linked("id")).toContain(
      'href="https://api.city.example/prod/docs/id/runbook#sending-paused"',
    );
  });

  test("of a job is the command that replays the last failed run, since the first", () => {
    const failed = { job: "document-status", reason: "because", scheduledAt: ago(300), since: ago(3_600) };
    const [alert] = alertsOf({ ...well(), failedJobs: [failed] });
    expect(alert?.todo).toContain(
      "npm run city -- notify replay document-status --at 2030-01-31T19:55:00.000Z",
    );
    expect(alert?.since).toEqual(ago(3_600));
  });
});

test("the worst is first: what stops all messages, then some", () => {
  const state: ConsoleState = {
    ...connected(),
    connection: { kind: "stopped", answer: 401, since: ago(60).toISOString() },
    paused: true,
    limits: { pausedSeconds: 60 },
    due: { ...due, oldest_seconds: 86_400, oldest_urgent_seconds: 700 },
  };
  const names = alertsOf(state).map(({ name }) => name);
  expect(names).toEqual(["unlinked", "paused", "urgentOld", "limited", "callback-1", "job"]);
});

test("a connection that is tried again after minutes only is an alert at once, with what to do", () => {
  const [alert] = alertsOf(with_({ kind: "closed", answer: 411, since: ago(1).toISOString() }));
  expect(alert).toMatchObject({ name: "disconnected", todo: expect.stringContaining("Update WhatsApp") });
});

test("a connection or a service that failed less than a minute ago is no alert: it is usually back by then", () => {
  expect(alertsOf(with_({ kind: "closed", since: ago(59).toISOString() }))).toEqual([]);
  const outages = [{ service: "media", seconds: 10, ageSeconds: 59 }] as const;
  expect(alertsOf({ ...well(), limits: { outages } })).toEqual([]);
});

describe("since an account was last connected", () => {
  const [main] = connected().accounts;
  const accounts = (downSince: Date, name = "main") => [
    { ...main, name, downSince } as NonNullable<typeof main>,
  ];

  test.each(["closed", "connecting", "unreachable"] as const)(
    "10 minutes count, although the last attempt of one that is %s was now",
    (kind) => {
      const state = { ...with_({ kind, since: ago(1).toISOString() }), accounts: accounts(ago(600)) };
      expect(alertsOf(state)[0]?.since).toEqual(ago(600));
      expect(alertsOf({ ...state, accounts: accounts(ago(59)) })).toEqual([]);
    },
  );

  test.each([
    ["another account that this task may not lead", { accounts: accounts(ago(60), "tax") }],
    ["the only account, on the page of a standby", { accounts: accounts(ago(60)), leader: false }],
  ])("a minute of %s counts", (_, more) => {
    expect(alertsOf({ ...well(), ...more }).map(({ since }) => since)).toEqual([ago(60)]);
    const spare = more.accounts.map((one) => ({ ...one, state: "spare" as const }));
    expect(alertsOf({ ...well(), ...more, accounts: spare })).toEqual([]);
  });
});

describe("the banner and the card say the same of a connection", () => {
  const kinds = [
    "open",
    "usable",
    "closed",
    "connecting",
    "pairing",
    "replaced",
    "stopped",
    "unreachable",
    "rejected",
  ];
  test.each(kinds.flatMap((kind) => [5, 59, 60, 600].map((age) => [kind, age] as const)))(
    "that is %s for %i s",
    async (kind, age) => {
      const { get, messenger } = await openLoggedIn();
      messenger.state = with_({
        kind: kind as Connection["kind"],
        since: new Date(Date.now() - age * 1_000).toISOString(),
      });
      const { body } = await get();
      const [, banner] = /<section id="alerts" class="card (\w+)"/.exec(body) ?? [];
      const [, card] = /<span class="dot (\w+)"/.exec(body) ?? [];
      expect([card, banner]).toBeOneOf([
        ["good", "well"],
        ["waiting", "unsettled"],
        ["bad", "ill"],
      ]);
      expect(banner === "well").toBe(["open", "usable"].includes(kind));
    },
  );

  test("of several accounts they name the one that is shown", () => {
    const [main] = connected().accounts;
    const accounts = [main, { ...main, name: "tax" }] as ConsoleState["accounts"];
    const state = { ...with_({ kind: "closed", answer: 503 }), account: "main", accounts };
    expect(alertsOf(state)[0]?.what).toMatch(/^main: /);
  });

  test("of one that is tried again they say when", async () => {
    const { get, messenger } = await openLoggedIn();
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    messenger.state = with_({ kind: "closed", answer: 503, since: at(-20), retryAt: at(42) });
    expect((await get()).body).toMatch(
      /Nothing is sent at the moment\. Connecting to the platform; .* The next attempt is in 4[12] s\./,
    );
  });
});

test.each([
  ["2 of 10", { ...failures, failed: 2 }, 0],
  ["4 of 10", { ...failures, failed: 4 }, 0],
  ["5 of 10", { ...failures, failed: 5 }, 1],
  ["3 of 3", { ...failures, ended: 3, failed: 3 }, 1],
])("%s failed messages are an alert if they are at least three and half of all", (_, given, count) => {
  expect(alertsOf({ ...well(), failures: given })).toHaveLength(count);
});

test("when nothing is wrong the page says so, and a standby speaks only of the outbox", async () => {
  const { get, messenger } = await openLoggedIn();
  messenger.state = well();
  expect((await get()).body).toContain("Everything is working; nothing to do.");
  messenger.state = { ...well(), leader: false };
  expect((await get()).body).toContain("This task stands by");
});

describe("the language", () => {
  test.each([
    ["id-ID,id;q=0.9,en;q=0.8", "id"],
    ["en-US,id;q=0.5", "en"],
    ["in", "id"],
    ["fr, id;q=0.3", "id"],
    ["id;q=0, en", "en"],
    ["fr", "en"],
  ])("of a browser that prefers %s is %s", async (header, language) => {
    const { get } = await openLoggedIn();
    const { body } = await get("", { "accept-language": header });
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(languages[language as Language]("queue.heading"));
  });

  test("of the switch prevails, and an unknown one does not exist", async () => {
    const { get, browser } = await openLoggedIn();
    const { headers, statusCode } = await get("/language/id");
    expect([statusCode, headers.location]).toEqual([303, "/console"]);
    expect(headers["set-cookie"]).toMatch(/^console-language=id; Path=\/console; HttpOnly; SameSite=Strict/);
    const cookie = `${browser.cookie}; console-language=id`;
    const { body } = await get("", { cookie, "accept-language": "en" });
    expect(body).toContain("Jeda pengiriman");
    expect((await get("/language/fr")).statusCode).toBe(404);
  });

  test("of the reason of a message is the reader's, also where it is stored in English", async () => {
    const { get } = await openLoggedIn();
    const { body } = await get("/messages", { "accept-language": "id" });
    expect(body).toContain("ditolak platform, kode 479: perangkat atau kunci penerima sudah tidak aktual");
    expect(body).toContain("platform tidak menjawab");
  });

  test("of the API's names of states stays, and their meaning is beside them in the reader's", async () => {
    const { look } = await openLoggedIn();
    const body = await look({ "accept-language": "id" });
    expect(body).toMatch(/>PENDING<\/span> <span class="muted">menunggu</);
    expect(body).toContain("40 SENT (terkirim)");
    expect(body).toContain(">gambar</td>");
    expect(await look({ "accept-language": "en" })).not.toContain("menunggu");
  });
});
