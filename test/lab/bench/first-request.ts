import { createHmac, randomUUID } from "node:crypto";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type * as docs from "#lib/routes/docs.ts";
import type * as employee from "#lib/routes/employee.ts";
import { routes } from "#lib/routes/index.ts";
import type * as messaging from "#lib/routes/messaging.ts";
import type * as resident from "#lib/routes/resident.ts";
import type { FunctionIn, Route } from "#lib/routes/route.ts";
import type * as tourism from "#lib/routes/tourism.ts";
import type * as webhooks from "#lib/routes/webhooks.ts";
import type { City } from "../../../infra/local/city.ts";
import { authorizerEvent, proxyEvent, type Request } from "../../../infra/local/gateway/event.ts";
import { localSecretName } from "../../../infra/local/secrets/store.ts";
import { inventResident } from "../../../infra/local/seed/resident-rows.ts";
import { documentedRequest, pathOf } from "../../steps/documented-request.ts";
import { basicHeader, formOf } from "../../steps/messaging.ts";

interface Sample {
  /** For the path's segments in braces. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON, or as the kind of form that the route takes; a Buffer is a file. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

/** The documented request, or another one. */
type Samples = Readonly<Record<FunctionIn<Rows>, "documented" | ((city: City) => Sample | Promise<Sample>)>>;
type Rows = typeof docs &
  typeof employee &
  typeof messaging &
  typeof resident &
  typeof tourism &
  typeof webhooks;

const credentialsOf = ({ upstreams: { demo } }: City) => ({
  username: demo.username,
  password: demo.password,
});

const login = async (city: City): Promise<{ token: string; refresh_token: string }> => {
  const response = await fetch(`${city.baseUrl}/v1/simpeg/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(credentialsOf(city)),
  });
  return response.json() as Promise<{ token: string; refresh_token: string }>;
};

/** A PNG of one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const message = { phone: "6281234567890", message: "Antrean Anda: A-12" };

/** @returns the id of a message that the messenger has taken. */
const sendMessage = async (
  { messagingBaseUrl, basic }: City,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const response = await fetch(`${messagingBaseUrl}/send/message`, {
    method: "POST",
    headers: { authorization: basicHeader(basic), "content-type": "application/json", ...headers },
    body: JSON.stringify(message),
  });
  if (!response.ok) throw new Error(`/send/message answered ${response.status}: is there a messenger?`);
  const { data } = (await response.json()) as { data: { id: string } };
  return data.id;
};

/** @returns the id of a message that waits. */
const sendLater = (city: City) =>
  sendMessage(city, { "x-send-at": new Date(Date.now() + 3_600_000).toISOString() });

const business = { app_secret: "invented", verify_token: "invented", phone_number_id: "106540352242922" };

const reportToken = "invented-token-of-forty-characters-abcde";

/** Gives the city an account of the WhatsApp Business Platform and one at an SMS gateway. */
const addAccounts = ({ secrets }: City) => {
  const own = { ...business, channel: "cloud-api", access_token: "invented" };
  const templates = { language: "id", text: "notice", code: "login_code" };
  const gateway = {
    channel: "sms",
    url: "https://gateway.example",
    format: "form",
    from: "KOTA",
    fields: {},
  };
  const reports = { token: reportToken, id: "id", state: "status", states: { delivered: "DELIVERED" } };
  const accounts = { official: { ...own, templates }, "kota-sms": { ...gateway, reports } };
  secrets.put(localSecretName("messenger-channels"), JSON.stringify({ accounts }));
};

/** A report of a state that the settings do not name. */
const report = { id: "3EB0C767D26A1B2E5A9F", status: "buffered" };
const reportHeaders = [["authorization", `Bearer ${reportToken}`]] as const;

/** A notification of something that the city does not read, signed by the platform. */
const notification = (() => {
  const body = { object: "whatsapp_business_account", entry: [{ changes: [{ field: "account_update" }] }] };
  const signature = createHmac("sha256", business.app_secret).update(JSON.stringify(body)).digest("hex");
  return { body, headers: [["x-hub-signature-256", `sha256=${signature}`]] } as const;
})();

/**
 * A request to each function: the documented one, or one with credentials, files or ids that the city knows. Each takes
 * the whole way to its database or old system and back.
 */
const samples: Samples = {
  "employee/login": (city) => ({ body: credentialsOf(city) }),
  "employee/refresh": async (city) => ({
    body: { grant_type: "refresh_token", refresh_token: (await login(city)).refresh_token },
  }),
  "employee/ticket": ({ upstreams: { demo } }) => ({
    query: { user: "servicelogin", username: demo.nip, pass: demo.passphrase },
  }),
  "employee/employees": "documented",
  // another page than without a body, so that an answer shows that the body was read
  "resident/list": () => ({ body: { page_number: 2, page_size: 10 } }),
  "resident/search": "documented",
  // all match: wrong values are limited
  "resident/verify": () => {
    const [p_nik, , p_nama] = inventResident(1).values;
    return { body: { p_nik, p_nama } };
  },
  "tourism/categories": "documented",
  "tourism/gallery": "documented",
  "messaging/send-message": () => ({ body: message }),
  "messaging/send-image": () => ({ body: { phone: message.phone, image: pixel } }),
  "messaging/send-file": () => ({ body: { phone: message.phone, file: Buffer.from("A-12") } }),
  "messaging/list-messages": "documented",
  "messaging/cancel-message": async (city) => ({ params: { id: await sendLater(city) } }),
  "messaging/message-status": async (city) => ({ params: { id: await sendMessage(city) } }),
  "messaging/verify-cloud-api": (city) => {
    addAccounts(city);
    const { verify_token } = business;
    return {
      query: { "hub.mode": "subscribe", "hub.verify_token": verify_token, "hub.challenge": "1158201444" },
    };
  },
  "messaging/receive-cloud-api": (city) => {
    addAccounts(city);
    return notification;
  },
  "messaging/report-sms": (city) => {
    addAccounts(city);
    return { params: { account: "kota-sms" }, body: report, headers: reportHeaders };
  },
  "messaging/report-sms-by-query": (city) => {
    addAccounts(city);
    return { params: { account: "kota-sms" }, query: report, headers: reportHeaders };
  },
  "docs/root": "documented",
  "docs/page": "documented",
  "docs/openapi": "documented",
  "docs/file": () => ({ params: { path: "paging" } }),
};

const encode = async ({ encoding }: Route, body: Readonly<Record<string, unknown>>) => {
  if (encoding === "multipart") {
    const response = new Response(formOf(body as Record<string, string | Buffer>));
    const contentType = response.headers.get("content-type") ?? "";
    return { contentType, bytes: Buffer.from(await response.arrayBuffer()) };
  }
  return encoding === "form"
    ? {
        contentType: "application/x-www-form-urlencoded",
        bytes: Buffer.from(new URLSearchParams(body as Record<string, string>).toString()),
      }
    : { contentType: "application/json", bytes: Buffer.from(JSON.stringify(body)) };
};

const authorizationOf = async ({ auth }: Route, city: City): Promise<string | undefined> => {
  if (auth.kind === "basic") return basicHeader(city.basic);
  return auth.kind === "bearer" ? `Bearer ${(await login(city)).token}` : undefined;
};

const getRequest = async (route: Route, city: City) => {
  const sample = samples[route.fn as keyof typeof samples];
  const {
    params = {},
    query,
    body,
    headers = [],
  }: Sample = sample === "documented" ? documentedRequest(route) : await sample(city);
  const encoded = body && (await encode(route, body));
  const authorization = await authorizationOf(route, city);
  const request: Request = {
    id: randomUUID(),
    method: route.method,
    path: pathOf(route, { params, query: undefined, body }),
    query: new URLSearchParams(query as Record<string, string>),
    headers: [
      ...headers,
      ["apikey", city.apiKey],
      ...(encoded ? [["content-type", encoded.contentType] as const] : []),
      ...(authorization ? [["authorization", authorization] as const] : []),
    ],
    sourceIp: "127.0.0.1",
    receivedAt: Date.now(),
  };
  return { request, body: encoded?.bytes ?? Buffer.alloc(0) };
};

/** The event of a route's first request, with what its authorizer handed on. */
export const routeEvent = async (
  route: Route,
  city: City,
  authorizer: Record<string, unknown> | undefined,
) => {
  const { request, body } = await getRequest(route, city);
  const binary = route.encoding === "multipart";
  return proxyEvent(request, { body, binary, resourcePath: route.path, authorizer });
};

/** The event of an authorizer's first request: the one of the first route that it guards. */
export const guardEvent = async ({ fn, kind }: Authorizer, city: City) => {
  const route = routes.find(({ auth }) => auth.kind === kind);
  if (!route) throw new Error(`${fn} guards no route`);
  return authorizerEvent((await getRequest(route, city)).request, route.path);
};
