import { readFileSync } from "node:fs";
import { SignJWT } from "jose";
import postgres from "postgres";
import { beforeAll, describe, expect, inject, test, vi } from "vitest";
import { partnerDirectory } from "#lib/partner/directory.ts";
import type { Route } from "#lib/routes/route.ts";
import type { Api, GatewayResponse } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import { contract } from "../contract/contract.ts";
import { type Credentials, openSystem, overHttp, type Question, type System } from "../contract/system.ts";
import { startBentFront } from "../steps/bent-front.ts";
import { setMood } from "../steps/employee.ts";
import { formOf } from "../steps/messaging.ts";
import { acceptedAt, type PlayedTask, playTask, reply } from "../steps/messenger-task.ts";
import { useOwnCity } from "../steps/own-city.ts";
import { type Played, startPlayedGateway } from "./played-gateway.ts";
import { judge, startRecording } from "./traffic.ts";

/** Some wait for what times out, or for the end of a token's life. */
vi.setConfig({ testTimeout: 60_000 });

const { exchanges, through } = startRecording();

let task: PlayedTask;
beforeAll(async () => {
  task = await playTask();
  return () => task.stop();
});
const own = useOwnCity(() => ({ messenger: { url: task.url } }));

const open = (integration: string, messaging: string, credentials: Credentials = {}): System =>
  openSystem({ credentials, gateway: true, send: through(overHttp({ integration, messaging })) });

const openOwn = (changed: Credentials = {}) => {
  const { baseUrl, messagingBaseUrl, apiKey, basic, upstreams } = own.city;
  const { username, password, nip, passphrase } = upstreams.demo;
  const all = { apiKey, basic, account: { username, password }, employee: { nip, passphrase } };
  return open(baseUrl, messagingBaseUrl, { ...all, ...changed });
};

const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const text = { phone: demoPhone, message: "x" };

/** One good question for each endpoint. */
const questions: Readonly<Record<string, Question>> = {
  "employee/login": { path: "/v1/simpeg/auth/login", body: { username: "somebody", password: "p" } },
  "employee/refresh": {
    path: "/v1/simpeg/auth/refresh",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "mir_x" }),
  },
  "employee/ticket": {
    method: "GET",
    path: `/v1/simpeg/tiket?user=servicelogin&username=${"1".repeat(18)}&pass=p`,
  },
  "employee/employees": { method: "GET", path: "/v1/simpeg/pegawai?nama=siti" },
  "resident/list": { path: "/v1/penduduk", body: { page_size: 1 } },
  "resident/search": { path: "/v1/penduduk/search", body: { p_nama: "siti" } },
  "tourism/categories": { method: "GET", path: "/v1/pariwisata/kategori" },
  "tourism/gallery": { method: "GET", path: "/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)" },
  "messaging/send-message": { api: "messaging", path: "/send/message", body: text },
  "messaging/send-image": {
    api: "messaging",
    path: "/send/image",
    body: formOf({ phone: demoPhone, image }, "a.png"),
  },
  "messaging/send-file": {
    api: "messaging",
    path: "/send/file",
    body: formOf({ phone: demoPhone, file: image }),
  },
  "messaging/message-status": { api: "messaging", method: "GET", path: "/messages/3EB0PLAYED" },
};
const question = (fn: string): Question => questions[fn] ?? expect.fail(`no question for ${fn}`);

const sends = ["messaging/send-message", "messaging/send-image", "messaging/send-file"].map(question);
const callers = { apiKey: "partner", bearer: "account", basic: "backend", public: undefined } as const;
const described = ({ routes }: Api) => routes.filter(({ fn }) => !fn.startsWith("docs/"));

const signFor = (claims: { scope: string; exp: number }) => {
  const { k, kid } = JSON.parse(own.city.secrets.find("municipal/local/token-key")?.value ?? "{}");
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    ...{ iss: "municipal-integration-api", aud: "municipal-integration-api/v1", sub: "1" },
    ...{ jti: "traffic", iat: now, nbf: now - 5, ...claims },
  })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid })
    .sign(Buffer.from(k, "base64url"));
};
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

  test("an answer that the caller has already", async () => {
    const headers = { "if-none-match": "*" };
    for (const fn of ["tourism/categories", "tourism/gallery"])
      expect((await openOwn().ask({ ...question(fn), headers })).status).toBe(304);
  });

  test("uploads, and questions about a message", async () => {
    const { ask } = openOwn();
    for (const send of sends) expect((await ask({ ...send, as: "backend" })).status).toBe(200);
    const state = { id: "3EB0PLAYED", status: "FAILED", reason: "no account", accepted_at: acceptedAt };
    task.behave((_, response) => reply(response, 200, { ...state, changed_at: acceptedAt }));
    const status = await ask({ ...question("messaging/message-status"), as: "backend" });
    expect([status.status, status.json.data.reason]).toEqual([200, "no account"]);
  });

  test.each([
    [400, { code: "invalid_request", message: "The URL could not be fetched" }, 400],
    [409, { code: "idempotency_key_in_use", message: "Under way", retry_after_seconds: 1 }, 409],
    [413, { code: "payload_too_large", message: "The file at the URL is larger" }, 413],
    [422, { code: "idempotency_key_reused", message: "Used" }, 422],
    [503, { code: "session_unavailable", message: "Away" }, 503],
    [500, { code: "internal_error", message: "Lost" }, 503],
  ])("sends that the messenger answers with %i", async (status, body, expected) => {
    task.behave((_, response) => reply(response, status, body));
    for (const send of sends) expect((await openOwn().ask({ ...send, as: "backend" })).status).toBe(expected);
    if (status !== 503) return;
    expect((await openOwn().ask({ ...question("messaging/message-status"), as: "backend" })).status).toBe(
      503,
    );
  });

  test("callers without the scope, and with a token whose time has just passed", async () => {
    const { database } = own.city;
    const directory = database.connectAs("partner-admin");
    const { key, keyId } = await partnerDirectory(directory).add("traffic", "standard", {
      scopes: ["resident:read"],
    });
    const admin = postgres(database.adminUrl, { max: 1 });
    await admin`update partner.api_key set scopes = '{tourism:write}' where id = ${keyId}`;
    await Promise.all([directory.end(), admin.end()]);
    const partner = openOwn({ apiKey: key });
    for (const fn of ["resident/list", "resident/search"])
      expect((await partner.ask({ ...question(fn), as: "partner" })).status).toBe(403);
    const headers = bearer(await signFor({ scope: "other", exp: inSeconds(900) }));
    for (const fn of ["employee/ticket", "employee/employees"])
      expect((await openOwn().ask({ ...question(fn), headers })).status).toBe(403);
    const short = bearer(await signFor({ scope: "employee:read", exp: inSeconds(2) }));
    const ask = () => openOwn().ask({ ...question("employee/employees"), headers: short });
    expect((await ask()).status).toBe(200);
    await expect.poll(async () => (await ask()).json.message, { timeout: 8_000 }).toMatch(/has expired/);
  });

  test("an employee system that accepts no passphrase, breaks and hangs", async () => {
    const { legacyAuthUrl, employeeSystemUrl } = own.city.upstreams;
    const system = openOwn();
    const ticket = await system.ask({ ...question("employee/ticket"), as: "account" });
    expect([ticket.status, ticket.json.code]).toEqual([403, "ticket_refused"]);
    for (const [mood, status] of [
      ["reset", 502],
      ["hang", 504],
    ] as const) {
      await Promise.all([legacyAuthUrl, employeeSystemUrl].map((url) => setMood(url, mood)));
      const asked = ["employee/login", "employee/ticket", "employee/employees"].map((fn) =>
        system.ask({ ...question(fn), ...(fn !== "employee/login" && { as: "account" }) }),
      );
      for (const answer of await Promise.all(asked)) expect(answer.status).toBe(status);
    }
    await Promise.all([legacyAuthUrl, employeeSystemUrl].map((url) => setMood(url, "well")));
  });

  test("passwords and passphrases that are guessed", async () => {
    const system = openOwn();
    for (const fn of ["employee/login", "employee/ticket"]) {
      const ask = () => system.ask({ ...question(fn), ...(fn !== "employee/login" && { as: "account" }) });
      await expect.poll(async () => (await ask()).status, { interval: 0, timeout: 30_000 }).toBe(429);
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
    /** In place of the throttle speaks what one machine does not have, in the words of the definition. */
    const answering = (response: GatewayResponse): Api => ({
      ...api,
      routes: api.routes.map(({ throttle: _, ...route }) => route),
      throttle: { requestsPerSecond: 0, burst: 0 },
      responses: { ...api.responses, THROTTLED: response },
    });
    const response = (type: string) => api.responses[type] ?? expect.fail(`no response ${type}`);
    const withBody = described(api).filter(({ body }) => body);

    test("is behind a firewall that refuses", () => everywhere(answering(response("WAF_FILTERED")), 403, {}));

    test("throttles", () => everywhere(answering(response("THROTTLED")), 429, {}));

    test("is behind a firewall that limits an address where credentials are tried", async () => {
      const { limits, refusal } = api.firewall.perAddress ?? { limits: [], refusal: response("THROTTLED") };
      const routes = limits.map(({ route }) => route);
      // a backend sends all its messages from one address
      const expected = api === messagingApi ? [] : ["employee/login", "employee/refresh", "employee/ticket"];
      expect(routes.map(({ fn }) => fn)).toEqual(expected);
      await everywhere(answering(refusal), 429, {}, routes);
    });

    test("counts by a plan that is used up", async () => {
      const usedUp = Object.entries(api.usagePlans).map(([name, plan]) => [
        name,
        { ...plan, requestsPerDay: 0 },
      ]);
      const counted = described(api).filter(({ auth }) => auth.kind === "apiKey");
      await everywhere({ ...api, usagePlans: Object.fromEntries(usedUp) }, 429, {}, counted);
    });

    test("gets more than it takes", () => everywhere(api, 413, {}, withBody, "a".repeat(11 * 1024 * 1024)));

    test("has functions that break or take too long, and authorizers that fail", async () => {
      await everywhere(api, 502, {});
      // after 29 s, which no function of ours is given
      await everywhere(answering(response("INTEGRATION_TIMEOUT")), 504, {});
      const guarded = described(api).filter(({ auth }) => auth.kind !== "public");
      await everywhere(api, 500, { authorization: { errorType: "Error", errorMessage: "" } }, guarded);
    });
  });

  test("a database that is away", async () => {
    await own.city.database.server.stop();
    const open = described(integrationApi).filter(({ auth }) => auth.kind === "public");
    for (const { fn } of open) expect([fn, (await openOwn().ask(question(fn))).status]).toEqual([fn, 500]);
  });
});

interface Documented {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: {
          readonly "application/json": {
            readonly examples: Readonly<Record<string, { value: { code?: string } }>>;
          };
        };
      }
    >
  >;
}

/** Every answer that the document tells of: `GET /path 404 not_found`. */
const documented = () => {
  const { paths } = JSON.parse(readFileSync("dist/openapi.json", "utf8"));
  return Object.entries(paths as Record<string, Record<string, Documented>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "servers")
      .flatMap(([method, { responses }]) =>
        Object.entries(responses).flatMap(([status, { content }]) => {
          const examples = Object.values(content?.["application/json"].examples ?? {});
          const codes = Number(status) < 400 ? [""] : examples.map(({ value }) => value.code ?? "");
          return codes.map((code) => `${method.toUpperCase()} ${path} ${status} ${code}`.trim());
        }),
      ),
  );
};

describe("of that traffic", () => {
  test("each answer is as the document says, and each that it tells of has been seen", async () => {
    const { problems, unseen } = await judge(exchanges);
    expect(problems).toEqual([]);
    expect(unseen).toEqual([]);
  });

  test("each status and code is documented, and each that is documented has been seen", () => {
    const seen = exchanges.map(({ operation, answer: { status, text } }) =>
      `${operation} ${status} ${status < 400 ? "" : JSON.parse(text).code}`.trim(),
    );
    expect([...new Set(seen)].toSorted()).toEqual([...new Set(documented())].toSorted());
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
])("%s in an answer is noticed", async (_, bend, message) => {
  const broken = startRecording();
  const front = await startBentFront(inject("city"), (passing) => {
    passing.body = bend(passing.body);
  });
  const { ask } = openSystem({
    credentials: { apiKey: inject("city").apiKey },
    gateway: true,
    send: broken.through(overHttp({ integration: front.baseUrl, messaging: front.messagingBaseUrl })),
  });
  await ask({ ...question("resident/list"), as: "partner" });
  const { problems } = await judge(broken.exchanges);
  expect(problems.map((problem) => problem.message).join()).toContain(message);
});
