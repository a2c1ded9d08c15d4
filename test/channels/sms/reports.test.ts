import { describe, expect, test } from "vitest";
import { message, openChannel } from "./channel-steps.ts";
import { dialects, reportToken, settingsOf } from "./dialects.ts";
import { startGateway } from "./gateway.ts";
import { bearer, plain, startReports } from "./report-steps.ts";

const reporting = ["twilio", "vonage", "infobip", "kannel"] as const;

/** A gateway that reports to the functions, and a channel to it. */
const start = async (name: (typeof reporting)[number], failureMode?: Parameters<typeof startGateway>[1]) => {
  const dialect = dialects[name];
  const gateway = await startGateway(dialect, failureMode);
  const reports = await startReports({ kota: dialect.settings(gateway.url, "unused") });
  const settings = settingsOf(dialect, gateway.url, reports.reportUrl());
  const opened = await openChannel(async () => settings).open();
  const deliver = async (text = "x") => {
    const outcome = await opened.deliver(message(text));
    const taken = gateway.taken.at(-1) ?? expect.fail("the gateway has taken nothing");
    return { outcome, taken };
  };
  return { ...reports, gateway, deliver };
};

describe.each(reporting)("reports of %s", (name) => {
  const ids = ({ reference }: { reference: string }) =>
    dialects[name].reference === "gateway's" ? { reference } : { id: message("x").id };

  test("reach the messenger with the id that the message was accepted with", async () => {
    const { deliver, gateway, messenger } = await start(name);
    const { taken } = await deliver();
    expect(await gateway.report(taken, "delivered")).toBe(200);
    expect(messenger.events).toEqual([
      { account: "kota", reports: [{ ...ids(taken), state: "DELIVERED" }], replies: [] },
    ]);
  });

  test("of a failure have the gateway's code, where it gives one", async () => {
    const { deliver, gateway, messenger } = await start(name);
    const { taken } = await deliver();
    expect(await gateway.report(taken, "failed")).toBe(200);
    const codes = { twilio: "30003", vonage: "1", infobip: "EC_ABSENT_SUBSCRIBER", kannel: undefined };
    expect(messenger.reports()).toEqual([
      { ...ids(taken), state: "FAILED", ...(codes[name] && { code: codes[name] }) },
    ]);
  });

  test("of intermediate states are taken and not passed on", async () => {
    const { deliver, gateway, messenger } = await start(name);
    const { taken } = await deliver();
    expect(await gateway.report(taken, "waiting")).toBe(200);
    expect(messenger.events).toEqual([]);
  });

  test("in disorder and twice are passed on as they come", async () => {
    const { deliver, gateway, messenger } = await start(name);
    const { taken } = await deliver();
    for (const state of ["delivered", "failed", "delivered"] as const) await gateway.report(taken, state);
    expect(messenger.reports().map(({ state }) => state)).toEqual(["DELIVERED", "FAILED", "DELIVERED"]);
  });

  test("may come before the answer", async () => {
    const { deliver, messenger } = await start(name, () => "reports-first");
    const { outcome, taken } = await deliver();
    expect(outcome).toMatchObject({ outcome: "acked" });
    expect(messenger.reports()).toEqual([{ ...ids(taken), state: "DELIVERED" }]);
  });

  test("are repeated until the messenger has taken them", async () => {
    const { deliver, gateway, messenger } = await start(name);
    const { taken } = await deliver();
    messenger.fail(503, 404, 400, 500);
    expect(await gateway.reportUntilTaken(taken, "delivered")).toBe(5);
    expect(messenger.reports()).toEqual([{ ...ids(taken), state: "DELIVERED" }]);
  });
});

test("a report to a messenger that is away gets 503 and when to repeat it", async () => {
  const { post, messenger } = await startReports({ kota: plain() });
  messenger.fail(500);
  const { status, headers, text } = await post({ id: "3EB0A", state: "ok" });
  expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  expect(text).not.toContain("PLANTED");
});

describe("the token", () => {
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
  const report = { id: "3EB0A", state: "ok" };

  test.each([
    ["a bearer token", bearer],
    ["a bearer token of another case", { authorization: `bearer ${reportToken}` }],
    ["the password of Basic credentials", basic(`gateway:${reportToken}`)],
    ["the password without a username", basic(`:${reportToken}`)],
  ])("is accepted as %s", async (_, headers) => {
    const { post, messenger } = await startReports({ kota: plain() });
    expect((await post(report, headers)).status).toBe(200);
    expect(messenger.reports()).toHaveLength(1);
  });

  test("is accepted in the query, also of a POST", async () => {
    const { get, messenger, reportUrl } = await startReports({ kota: plain() });
    expect((await get(`token=${reportToken}&id=3EB0A&state=ok`)).status).toBe(200);
    const { status } = await fetch(reportUrl(), { method: "POST", body: new URLSearchParams(report) });
    expect(status).toBe(200);
    expect(messenger.reports()).toHaveLength(2);
  });

  test.each<[string, Record<string, string>, string]>([
    ["none", {}, "kota"],
    ["a wrong one", { authorization: `Bearer ${"x".repeat(40)}` }, "kota"],
    ["an empty one", { authorization: "Bearer " }, "kota"],
    ["an empty password", basic("gateway:"), "kota"],
    ["it as a username", basic(`${reportToken}:`), "kota"],
    ["it in another scheme", { authorization: `Digest ${reportToken}` }, "kota"],
    ["that of another account", bearer, "other"],
    ["an unknown account", bearer, "nobody"],
    ["an account of another channel", bearer, "cloud"],
    ["an account without reports", {}, "silent"],
    ["the name of a property of every object", {}, "constructor"],
  ])("is rejected with one and the same answer: %s", async (_, headers, account) => {
    const cloud = {
      channel: "cloud-api",
      phone_number_id: "123456",
      ...{ access_token: "a", app_secret: "b", verify_token: "c" },
      templates: { language: "id", text: "text", code: "code" },
    };
    const other = plain({ token: "another-token-of-forty-characters-abcdef" });
    const { post, get, messenger } = await startReports({
      ...{ kota: plain(), other, cloud, silent: { ...plain(), reports: undefined } },
    });
    const answers = [
      await post(report, headers, account),
      await get("id=3EB0A&state=ok", headers, account),
      // with a header, the query is not asked
      ...(headers.authorization ? [await get(`token=${"x".repeat(40)}`, headers, account)] : []),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(401);
      expect(JSON.parse(text)).toEqual({ status: false, code: "UNAUTHORIZED", message: expect.any(String) });
      expect(text).toBe(answers[0]?.text);
    }
    expect(messenger.events).toEqual([]);
  });

  test("is neither logged nor repeated to the caller, and nor is what was reported", async () => {
    const { get, post, printed, messenger } = await startReports({
      kota: plain({ replies: { phone: "from", text: "body" } }),
    });
    messenger.fail(503, 500);
    const answers = [
      await get(`token=${reportToken}&id=PLANTED&state=ok`),
      await get(`token=${reportToken}x&id=PLANTED&state=ok`),
      await post({ from: "6281234567890", body: "PLANTED" }),
      await post({ from: "6281234567890", body: "PLANTED" }),
      await post("PLANTED".repeat(200_000)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([503, 401, 503, 200, 413]);
    expect(printed.length).toBeGreaterThan(4);
    for (const text of [...printed, ...answers.map((answer) => answer.text)])
      for (const secret of [reportToken, "PLANTED", "6281234567890"]) expect(text).not.toContain(secret);
  });
});

test("a name that no account can have gets 400", async () => {
  const { post } = await startReports({ kota: plain() });
  expect((await post({}, bearer, "A%20B")).status).toBe(400);
});

describe("a body", () => {
  test.each<[string, unknown, string]>([
    ["JSON that is declared as text", '\uFEFF{"id":"3EB0A","state":"ok"}', "text/plain"],
    ["a form that is declared as JSON", "id=3EB0A&state=ok", "application/json"],
    ["a list", [{ id: "3EB0A", state: "ok" }], "application/json"],
    ["a list with anything in it", [null, 7, "x", [], { id: "3EB0A", state: "ok" }], "application/json"],
    ["a state and an id that are not text", '{"id":30,"state":1}', "application/json"],
  ])("may be %s", async (_, body, type) => {
    const { post, messenger } = await startReports({
      kota: plain({ states: { ok: "DELIVERED", "1": "DELIVERED" } }),
    });
    expect((await post(body, { ...bearer, "content-type": type })).status).toBe(200);
    expect(messenger.reports()).toEqual([{ id: expect.stringMatching(/^3(EB)?0/), state: "DELIVERED" }]);
  });

  test.each<[string, unknown]>([
    ["nothing", ""],
    ["null", "null"],
    ["a number", "7"],
    ["XML", "<report><id>3EB0A</id></report>"],
    ["cut JSON", '{"id":"3EB0A","state":"ok"'],
    ["a report without an id", { state: "ok" }],
    ["a report with a blank id", { id: "", state: "ok" }],
    ["a report with an id that no message has", { id: "x".repeat(129), state: "ok" }],
    ["a report with an id that no database stores", '{"id":"3EB0\\u0000","ref":"\\ud800","state":"ok"}'],
    ["a state that is a property of every object", { id: "3EB0A", state: "constructor" }],
    ["a state that is an object", { id: "3EB0A", state: { ok: true } }],
    ["a prototype", '{"__proto__":{"id":"3EB0A","state":"ok"}}'],
    ["very deep JSON", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ])("of %s is taken and says nothing", async (_, body) => {
    const { post, messenger } = await startReports({ kota: plain() });
    expect((await post(body)).status).toBe(200);
    expect(messenger.events).toEqual([]);
  });

  test("has fields that the query has too; the body's count", async () => {
    const { reportUrl, messenger } = await startReports({ kota: plain() });
    const body = JSON.stringify([{ state: "ok" }, { state: "bad", id: "3EB0B", why: "no <route>" }]);
    await fetch(`${reportUrl()}&id=3EB0A&state=sent`, { method: "POST", body });
    expect(messenger.reports()).toEqual([
      { id: "3EB0A", state: "DELIVERED" },
      { id: "3EB0B", state: "FAILED" },
    ]);
  });

  test("of more reports than the messenger takes at once is passed on whole and in order", async () => {
    const { post, messenger } = await startReports({ kota: plain({ list: "all.results" }) });
    const results = Array.from({ length: 2_500 }, (_, index) => ({ ref: index, state: "ok" }));
    expect((await post({ all: { results } })).status).toBe(200);
    expect(messenger.events.map(({ reports }) => reports.length)).toEqual([1_000, 1_000, 500]);
    expect(messenger.reports().map(({ reference }) => Number(reference))).toEqual(
      results.map(({ ref }) => ref),
    );
  });

  test("keeps references beyond 2^53 apart", async () => {
    const { post, messenger } = await startReports({ kota: plain() });
    await post('[{"ref":9007199254740993,"state":"ok"},{"ref":9007199254740992,"state":"ok"}]');
    expect(messenger.reports().map(({ reference }) => reference)).toEqual([
      ...["9007199254740993", "9007199254740992"],
    ]);
  });
});

describe("what persons send to the number", () => {
  const withReplies = () => startReports({ kota: plain({ replies: { phone: "from", text: "body" } }) });

  test.each(["+6281234567890", "6281234567890", "081234567890"])("is passed on from %s", async (from) => {
    const { post, messenger } = await withReplies();
    expect((await post({ from, body: "BERHENTI" })).status).toBe(200);
    expect(messenger.replies()).toEqual([
      { phone: "6281234567890", text: "BERHENTI", sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
    ]);
  });

  test.each([
    ["a short code", { from: "99011", body: "x" }],
    ["a name", { from: "BANK", body: "x" }],
    ["nobody", { body: "x" }],
    ["no text", { from: "6281234567890" }],
  ])("is ignored with %s", async (_, body) => {
    const { post, messenger } = await withReplies();
    expect((await post(body)).status).toBe(200);
    expect(messenger.events).toEqual([]);
  });

  test("is no report, and a report with the text of its message is no reply", async () => {
    const { post, messenger } = await withReplies();
    await post({ id: "3EB0A", state: "ok", from: "6281234567890", body: "BERHENTI" });
    expect([messenger.reports().length, messenger.replies().length]).toEqual([1, 0]);
  });

  test("is ignored where the settings do not name its fields", async () => {
    const { post, messenger } = await startReports({ kota: plain() });
    expect((await post({ from: "6281234567890", body: "x" })).status).toBe(200);
    expect(messenger.events).toEqual([]);
  });
});
