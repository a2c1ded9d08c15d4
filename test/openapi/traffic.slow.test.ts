import postgres from "postgres";
import { beforeAll, describe, expect, inject, test, vi } from "vitest";
import { isDescribed } from "#lib/openapi/document.ts";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import type { Route } from "#lib/routes/route.ts";
import type { Api, GatewayResponse } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import { contract } from "../contract/contract.ts";
import { type Credentials, openSystem, overHttp, type Question, type System } from "../contract/system.ts";
import { signAccessToken, signBriefToken } from "../steps/access-tokens.ts";
import { startAnswerProxy } from "../steps/answer-proxy.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { employeeClient, setFailureMode } from "../steps/employee.ts";
import { withoutConnections } from "../steps/exhausted-roles.ts";
import { acceptedAt, type FakeMessenger, reply, startFakeMessenger } from "../steps/fake-messenger.ts";
import { listDocumented } from "./documented.ts";
import { type Played, startPlayedGateway } from "./played-gateway.ts";
import { question } from "./questions.ts";
import { judge, startRecording } from "./traffic.ts";

/** Some tests wait for a timeout. */
vi.setConfig({ testTimeout: 600_000 });

const { exchanges, through } = startRecording();

let task: FakeMessenger;
beforeAll(async () => {
  task = await startFakeMessenger();
  return () => task.stop();
});
const own = useOwnCity(() => ({ messenger: { url: task.url } }));

const open = (integration: string, messaging: string, credentials: Credentials = {}): System =>
  openSystem({ credentials, send: through(overHttp({ integration, messaging })) });

const openOwn = (changed: Credentials = {}) => {
  const { baseUrl, messagingBaseUrl, apiKey, basic, upstreams } = own.city;
  const { username, password, nip, passphrase } = upstreams.demo;
  const all = { apiKey, basic, account: { username, password }, employee: { nip, passphrase } };
  return open(baseUrl, messagingBaseUrl, { ...all, ...changed });
};

const sends = ["messaging/send-message", "messaging/send-image", "messaging/send-file"].map(question);
const callers = { apiKey: "partner", bearer: "account", basic: "backend", public: undefined } as const;
const described = ({ routes }: Api) => routes.filter(isDescribed);
const guardedBy = (kind: Route["auth"]["kind"]) =>
  described(integrationApi).filter(({ auth }) => auth.kind === kind);

const ticketUse = {
  method: "GET",
  path: "/v1/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=t",
} as const;

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("traffic is recorded of", () => {
  test("every case of the contract", async () => {
    const { baseUrl, messagingBaseUrl, apiKey, basic, employee } = inject("city");
    const { username, password, nip, passphrase } = employee;
    const credentials = { apiKey, basic, account: { username, password }, employee: { nip, passphrase } };
    const system = open(baseUrl, messagingBaseUrl, { ...credentials, phone: demoPhone });
    for (const { cases } of contract) for (const { check } of cases) await check(system);
  });

  test("an unchanged answer", async () => {
    const headers = { "if-none-match": "*" };
    for (const { fn } of described(integrationApi).filter(({ cache }) => cache))
      expect((await openOwn().ask({ ...question(fn), headers })).status).toBe(304);
  });

  test("an unknown query parameter", async () => {
    const path = "/v1/pariwisata/kategori?limit=10";
    expect((await openOwn().ask({ method: "GET", path })).status).toBe(400);
  });

  test("uploads and requests for a message's status", async () => {
    const { ask } = openOwn();
    for (const send of sends) expect((await ask({ ...send, as: "backend" })).status).toBe(200);
    const state = { id: "3EB0PLAYED", status: "FAILED", reason: "no account", accepted_at: acceptedAt };
    task.behave((_, response) => reply(response, 200, { ...state, changed_at: acceptedAt }));
    const status = await ask({ ...question("messaging/message-status"), as: "backend" });
    expect([status.status, status.json.data.reason]).toEqual([200, "no account"]);
    const message = { ...state, changed_at: acceptedAt };
    task.behave((_, response) => reply(response, 200, { messages: [message], next: "x" }));
    expect((await ask({ ...question("messaging/list-messages"), as: "backend" })).json.next).toBe("x");
    task.behave((_, response) => reply(response, 409, { code: "not_waiting", message: "Sent" }));
    const cancelled = await ask({ ...question("messaging/cancel-message"), as: "backend" });
    expect([cancelled.status, cancelled.json.code]).toEqual([409, "NOT_WAITING"]);
  });

  test.each([
    [400, { code: "invalid_request", message: "The URL could not be fetched" }, 400],
    [403, { code: "class_not_allowed", message: "Use reminder" }, 403],
    [403, { code: "opted_out", message: "Opted out" }, 403],
    [409, { code: "idempotency_key_in_use", message: "Under way", retry_after_seconds: 1 }, 409],
    [413, { code: "payload_too_large", message: "The file at the URL is larger" }, 413],
    [422, { code: "idempotency_key_reused", message: "Used" }, 422],
    [429, { code: "daily_quota_reached", message: "Used up", retry_after_seconds: 3_600 }, 429],
    [503, { code: "session_unavailable", message: "Away" }, 503],
    [500, { code: "internal_error", message: "Lost" }, 503],
  ])("sends that the messenger answers with %i", async (status, body, expected) => {
    task.behave((_, response) => reply(response, status, body));
    for (const send of sends) expect((await openOwn().ask({ ...send, as: "backend" })).status).toBe(expected);
    if (status !== 503) return;
    for (const fn of ["message-status", "list-messages", "cancel-message"])
      expect((await openOwn().ask({ ...question(`messaging/${fn}`), as: "backend" })).status).toBe(503);
  });

  test("callers without the scope and with a token that has just expired", async () => {
    const { database } = own.city;
    const directory = database.connectAs("partner-admin");
    const { key, keyId } = await partnerDirectory(directory).add("traffic", "standard", {
      scopes: ["resident:read"],
    });
    const admin = postgres(database.adminUrl, { max: 1 });
    await admin`update partner.api_key set scopes = '{tourism:write}' where id = ${keyId}`;
    await Promise.all([directory.end(), admin.end()]);
    const partner = openOwn({ apiKey: key });
    for (const { fn } of guardedBy("apiKey"))
      expect((await partner.ask({ ...question(fn), as: "partner" })).status).toBe(403);
    const headers = bearer(await signAccessToken(own.city, { scope: "other", exp: inSeconds(900) }));
    for (const { fn } of guardedBy("bearer"))
      expect((await openOwn().ask({ ...question(fn), headers })).status).toBe(403);
    const ask = (token: string) =>
      openOwn().ask({ ...question("employee/employees"), headers: bearer(token) });
    const short = await signBriefToken(
      (exp) => signAccessToken(own.city, { scope: "employee:read", exp }),
      async (token) => (await ask(token)).status,
    );
    await expect.poll(async () => (await ask(short)).json.message).toMatch(/has expired/);
  });

  test("an employee system that rejects the passphrase, fails and hangs", async () => {
    const { legacyAuthUrl, employeeSystemUrl } = own.city.upstreams;
    const system = openOwn();
    const ticket = await system.ask({ ...question("employee/ticket"), as: "account" });
    expect([ticket.status, ticket.json.code]).toEqual([403, "ticket_refused"]);
    for (const [failureMode, status] of [
      ["reset", 502],
      ["hang", 504],
    ] as const) {
      await Promise.all([legacyAuthUrl, employeeSystemUrl].map((url) => setFailureMode(url, failureMode)));
      const asked = ["employee/login", "employee/ticket", "employee/employees"].map((fn) =>
        system.ask({ ...question(fn), ...(fn !== "employee/login" && { as: "account" }) }),
      );
      for (const answer of await Promise.all(asked)) expect(answer.status).toBe(status);
    }
    await Promise.all([legacyAuthUrl, employeeSystemUrl].map((url) => setFailureMode(url, "well")));
  });

  test("a refresh of an account that the legacy system has not confirmed for a day", async () => {
    const { baseUrl, database, upstreams } = own.city;
    const { username, password } = upstreams.demo;
    const { refresh_token: token } = (await employeeClient(baseUrl).login(username, password)).json;
    const admin = postgres(database.adminUrl, { max: 1 });
    await admin`update employee.session set confirmed_at = confirmed_at - interval '1 day'`;
    await admin.end();
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token });
    expect((await openOwn().ask({ ...question("employee/refresh"), body })).status).toBe(503);
  });

  test("guessed passwords, passphrases and tickets", async () => {
    const system = openOwn();
    for (const fn of ["employee/login", "employee/employees", "employee/ticket"]) {
      const asked = fn === "employee/employees" ? ticketUse : question(fn);
      const ask = () => system.ask({ ...asked, ...(fn !== "employee/login" && { as: "account" }) });
      await expect.poll(async () => (await ask()).status, { interval: 0 }).toBe(429);
    }
  });

  const everywhere = async (
    api: Api,
    status: number,
    played: Played,
    asked: readonly Route[] = described(api),
    body?: string,
  ) => {
    const url = await startPlayedGateway(api, played);
    const system = open(url, url, {
      apiKey: "k",
      basic: { username: "u", password: "p" },
      account: { username: "u", password: "p" },
    });
    for (const { fn, auth } of asked) {
      const as = callers[auth.kind];
      const headers = as === "account" ? bearer("t") : {};
      const sent = body === undefined ? {} : { body };
      const answer = await system.ask({
        ...{ ...question(fn), ...sent, headers },
        ...(as && as !== "account" && { as }),
      });
      expect([fn, answer.status]).toEqual([fn, status]);
    }
  };

  describe.each([integrationApi, messagingApi])("the gateway of the $name API that", (api) => {
    /** Replaces the throttle's response by one of the definition that the local gateway cannot cause. */
    const answering = (response: GatewayResponse): Api => ({
      ...api,
      routes: api.routes.map(({ throttle: _, ...route }) => route),
      throttle: { requestsPerSecond: 0, burst: 0 },
      responses: { ...api.responses, THROTTLED: response },
    });
    const response = (type: string) => api.responses[type] ?? expect.fail(`no response ${type}`);
    const withBody = described(api).filter(({ body }) => body);

    test("has a firewall that blocks", () => everywhere(answering(response("WAF_FILTERED")), 403, {}));

    test("rate-limits", () => everywhere(answering(response("THROTTLED")), 429, {}));

    test("has a firewall that limits each address", () => {
      const perAddress = { ...api.firewall.perAddress, limits: [{ requestsPerMinute: 0 }] };
      return everywhere({ ...api, firewall: { ...api.firewall, perAddress } }, 429, {});
    });

    test("has a used-up plan", async () => {
      const usedUp = Object.entries(api.usagePlans).map(([name, plan]) => [
        name,
        { ...plan, requestsPerDay: 0 },
      ]);
      const counted = described(api).filter(({ auth }) => auth.kind === "apiKey");
      await everywhere({ ...api, usagePlans: Object.fromEntries(usedUp) }, 429, {}, counted);
    });

    test("gets a body over its limit", () =>
      everywhere(api, 413, {}, withBody, "a".repeat(11 * 1024 * 1024)));

    test("has functions that fail or time out, and authorizers that fail", async () => {
      await everywhere(api, 502, {});
      // after 29 s, longer than any of our functions may run
      await everywhere(answering(response("INTEGRATION_TIMEOUT")), 504, {});
      const guarded = described(api).filter(({ auth }) => auth.kind !== "public");
      await everywhere(api, 500, { authorization: { errorType: "Error", errorMessage: "" } }, guarded);
    });
  });

  test("roles without a database connection left", async () => {
    const system = openOwn();
    const token = await signAccessToken(own.city, {
      scope: "employee:read employee:ticket",
      exp: inSeconds(600),
    });
    const roles = ["resident", "tourism", "employee", "employee_ticket"].map((name) => `municipal_${name}`);
    await withoutConnections(own.city.database.adminUrl, roles, async () => {
      for (const { fn, auth, secrets } of described(integrationApi)) {
        if (!("DATABASE_SECRET_ID" in secrets)) continue;
        const asked = fn === "employee/employees" ? ticketUse : question(fn);
        const caller = auth.kind === "bearer" ? { headers: bearer(token) } : { as: callers[auth.kind] };
        const { status } = await system.ask({
          ...asked,
          ...(auth.kind === "public" ? {} : caller),
        } as Question);
        expect([fn, status]).toEqual([fn, 503]);
      }
    });
  });

  test("an unavailable database", async () => {
    await own.city.database.server.stop();
    const open = described(integrationApi).filter(({ auth }) => auth.kind === "public");
    for (const { fn } of open) expect([fn, (await openOwn().ask(question(fn))).status]).toEqual([fn, 500]);
  });
});

describe("of that traffic", () => {
  test("each answer matches the document, and each documented answer was seen", async () => {
    const { problems, unseen } = await judge(exchanges);
    expect(problems).toEqual([]);
    expect(unseen).toEqual([]);
  });

  test("each status and code is documented, and each documented one was seen", () => {
    const seen = exchanges.map(({ operation, answer: { status, text } }) =>
      `${operation} ${status} ${status < 400 ? "" : JSON.parse(text).code}`.trim(),
    );
    expect([...new Set(seen)].toSorted()).toEqual([...new Set(listDocumented())].toSorted());
  });
});

test.each([
  [
    "a number that is text",
    (body: string) => body.replace(/"total":(\d+)/, '"total":"$1"'),
    "must be integer",
  ],
  ["a field that is missing", (body: string) => body.replace(/"page":1/, '"p":1'), "missing required field"],
  ["a field that nobody knows of", (body: string) => body.replace("{", '{"nik":"1",'), "undocumented field"],
  ["no JSON", () => "<html></html>", "not valid JSON"],
])("%s in an answer is detected", async (_, change, message) => {
  const broken = startRecording();
  const front = await startAnswerProxy(inject("city"), (passing) => {
    passing.body = change(passing.body);
  });
  const { ask } = openSystem({
    credentials: { apiKey: inject("city").apiKey },
    send: broken.through(overHttp({ integration: front.baseUrl, messaging: front.messagingBaseUrl })),
  });
  await ask({ ...question("resident/list"), as: "partner" });
  const { problems } = await judge(broken.exchanges);
  expect(problems.map((problem) => problem.message).join()).toContain(message);
});
