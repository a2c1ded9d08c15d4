import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { beforeEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type { Route } from "#lib/routes/route.ts";
import type { Api } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { startGateway } from "../../infra/local/gateway/gateway.ts";
import type { RestApi } from "../../infra/local/gateway/rest-api.ts";
import { restApiOf } from "../../infra/local/gateway/route-table.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";

const authorizer: Authorizer = {
  fn: "authorizers/test",
  kind: "apiKey",
  identityHeaders: ["authorization"],
  cacheSeconds: 60,
  secrets: {},
  timeoutSeconds: 5,
  memoryMb: 128,
};

const route: Route = {
  fn: "resident/test",
  method: "POST",
  path: "/thing",
  summary: "",
  auth: { kind: "apiKey", scope: "resident:read" },
  reply: z.unknown(),
  errors: integrationEnvelope,
  secrets: {},
  timeoutSeconds: 5,
  memoryMb: 128,
};

const api: Api = {
  ...integrationApi,
  routes: [route],
  authorizers: [authorizer],
  binaryMediaTypes: ["multipart/form-data"],
};

const policy = (effect = "Allow", resource = "arn:aws:execute-api:*/*") => ({
  principalId: "p",
  policyDocument: {
    Version: "2012-10-17",
    Statement: [{ Effect: effect, Action: "execute-api:Invoke", Resource: resource }],
  },
  context: { partner_id: "p" },
  usageIdentifierKey: "u",
});
const payload = (value: unknown): Outcome => ({ payload: JSON.stringify(value) });

let authorize: () => Outcome;
let integrate: (event: APIGatewayProxyEvent) => Outcome | Promise<Outcome>;
const calls: string[] = [];

beforeEach(() => {
  calls.length = 0;
  authorize = () => payload(policy());
  integrate = () => payload({ statusCode: 200, body: "{}" });
});

const open = async (more: Partial<Api> = {}, change: Partial<RestApi> = {}) => {
  const gateway = await startGateway({
    api: { ...restApiOf({ ...api, ...more }), ...change },
    invoke: async (fn, event) => {
      calls.push(fn);
      return fn.startsWith("authorizers/") ? authorize() : integrate(event as APIGatewayProxyEvent);
    },
    findPlan: async () => "standard",
  });
  onTestFinished(() => gateway.stop());
  return (headers: Record<string, string> = { authorization: "a" }, body: string | Buffer = "") =>
    fetch(`${gateway.url}/thing?q=1&q=2&%E2%82%AC=a+b`, { method: "POST", headers, body });
};

describe("the authorizer's cache", () => {
  const asked = () => calls.filter((fn) => fn === authorizer.fn).length;

  test("keeps a policy for the same identity only", async () => {
    const ask = await open();
    for (const authorization of ["a", "a", "b", "a"]) await ask({ authorization });
    expect(asked()).toBe(2);
  });

  test("expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const ask = await open();
    await ask();
    vi.setSystemTime(Date.now() + 61_000);
    await ask();
    expect(asked()).toBe(2);
  });

  test("is skipped without the identity header: 401", async () => {
    const ask = await open();
    expect((await ask({})).status).toBe(401);
    expect(calls).toEqual([]);
  });

  test("does not cache a rejection", async () => {
    const ask = await open();
    authorize = () => ({ errorMessage: "Unauthorized", errorType: "Error" });
    expect((await ask()).status).toBe(401);
    authorize = () => payload(policy());
    expect((await ask()).status).toBe(200);
  });
});

test("a segment in braces matches any one segment, and passes it on as sent", async () => {
  const seen: unknown[] = [];
  integrate = ({ resource, path, pathParameters }) => {
    seen.push([resource, path, pathParameters]);
    return payload({ statusCode: 200, body: "{}" });
  };
  const inBraces: Route = { ...route, method: "GET", path: "/thing/{id}/part" };
  const ask = await open({ routes: [route, inBraces] });
  const { url } = await ask();
  const get = (path: string) => fetch(new URL(path, url), { headers: { authorization: "a" } });
  expect((await get("/thing/a%20b;c/part")).status).toBe(200);
  for (const path of ["/thing//part", "/thing/a/b/part", "/thing/a/part/", "/thing/a", "/Thing/a/part"])
    expect((await get(path)).status).toBe(404);
  expect(seen).toEqual([
    ["/thing", "/thing", null],
    ["/thing/{id}/part", "/thing/a%20b;c/part", { id: "a%20b;c" }],
  ]);
});

test("the path with exact segments wins over one with parameters, which wins over one for the rest", async () => {
  integrate = ({ resource }) => payload({ statusCode: 200, body: resource });
  const paths = ["/thing/{rest+}", "/thing/{id}/part", "/thing/own/part"] as const;
  const ask = await open({ routes: [route, ...paths.map((path) => ({ ...route, path }))] });
  const { url } = await ask();
  const init = { method: "POST", headers: { authorization: "a" } };
  const reach = async (path: string) => (await fetch(new URL(path, url), init)).text();
  expect(await Promise.all(["/thing/own/part", "/thing/x/part", "/thing/own"].map(reach))).toEqual([
    "/thing/own/part",
    "/thing/{id}/part",
    "/thing/{rest+}",
  ]);
});

test.each([
  ["a policy that denies", () => payload(policy("Deny")), 403],
  ["a policy for another resource", () => payload(policy("Allow", "arn:aws:execute-api:*/GET/other")), 403],
  ["an authorizer that fails", (): Outcome => ({ errorMessage: "boom secret", errorType: "Error" }), 500],
  ["a policy without principal", () => payload({ policyDocument: { Statement: [] } }), 500],
  ["no policy", () => payload(null), 500],
  ["a policy that names no key", () => payload({ ...policy(), usageIdentifierKey: undefined }), 401],
])("%s is answered with the gateway's own status", async (_, answer, status) => {
  authorize = answer;
  const response = await (await open())();
  expect(response.status).toBe(status);
  expect(await response.text()).not.toContain("boom");
  expect(calls).toEqual([authorizer.fn]);
});

test.each<[string, Outcome, number]>([
  ["a function that fails", { errorMessage: "boom", errorType: "Error" }, 502],
  ["a function that ran out of time", { errorMessage: "Task timed out", errorType: "Sandbox.Timedout" }, 502],
  ["a result without status", payload({ body: "x" }), 502],
  ["a result with an object as body", payload({ statusCode: 200, body: {} }), 502],
  ["no result", payload(null), 502],
  ["a result over 6 MB", payload({ statusCode: 200, body: "x".repeat(7_000_000) }), 502],
])("%s is a gateway error in the API's shape", async (_, outcome, status) => {
  integrate = () => outcome;
  const response = await (await open())();
  const body = (await response.json()) as { status: string; request_id: string };
  expect([response.status, body.status]).toEqual([status, "error"]);
  expect(body.request_id).toBe(response.headers.get("x-request-id"));
});

test("a function that takes longer than the integration's timeout is answered with 504", async () => {
  integrate = () => new Promise(() => {});
  const methods = restApiOf(api).methods.map((method) => ({
    ...method,
    integration: { fn: route.fn, timeoutMs: 1 },
  }));
  expect((await (await open({}, { methods }))()).status).toBe(504);
});

test("a function's challenge is renamed, and its 204 has neither body nor length", async () => {
  integrate = () => payload({ statusCode: 204, headers: { "WWW-Authenticate": "Basic" } });
  const { status, headers } = await (await open())();
  const names = ["www-authenticate", "x-amzn-remapped-www-authenticate", "content-length"];
  expect([status, ...names.map((name) => headers.get(name))]).toEqual([204, null, "Basic", null]);
});

test("passes the event of a REST API to the function", async () => {
  let event: APIGatewayProxyEvent | undefined;
  integrate = (given) => {
    event = given;
    return payload({ statusCode: 201, headers: { "x-one": "1" }, body: "made" });
  };
  const response = await (await open())({ authorization: "a" }, "hällo");
  expect([response.status, response.headers.get("x-one"), await response.text()]).toEqual([201, "1", "made"]);
  expect(event).toMatchObject({
    resource: "/thing",
    path: "/thing",
    httpMethod: "POST",
    queryStringParameters: { q: "2", "€": "a b" },
    multiValueQueryStringParameters: { q: ["1", "2"], "€": ["a b"] },
    pathParameters: null,
    body: "hällo",
    isBase64Encoded: false,
    requestContext: {
      httpMethod: "POST",
      resourcePath: "/thing",
      authorizer: { partner_id: "p", principalId: "p" },
    },
  });
});

test("passes binary media types in base64, and decodes base64 results for clients that accept them", async () => {
  const bytes = Buffer.from([0, 255, 128, 10]);
  integrate = ({ body, isBase64Encoded }) => payload({ statusCode: 200, body, isBase64Encoded });
  const ask = await open();
  const binary = { authorization: "a", "content-type": "Multipart/Form-Data; boundary=x" };
  const response = await ask({ ...binary, accept: "multipart/form-data, */*" }, bytes);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  expect(await (await ask(binary, bytes)).text()).toBe(bytes.toString("base64"));
});

test("an empty body is null in the event", async () => {
  integrate = ({ body }) => payload({ statusCode: 200, body: String(body) });
  expect(await (await (await open())()).text()).toBe("null");
});

test("a used daily quota is 429 until the next day", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const ask = await open({
    usagePlans: { standard: { requestsPerSecond: 100, burst: 100, requestsPerDay: 2 } },
  });
  const statuses = [await ask(), await ask(), await ask()].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 429]);
  vi.setSystemTime(Date.now() + 86_400_000);
  expect((await ask()).status).toBe(200);
});

test("a route's own throttle replaces the common one", async () => {
  const throttle = { requestsPerSecond: 0.001, burst: 1 };
  const ask = await open({ routes: [{ ...route, throttle }] });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
});

test("a method's own throttle is 429 for all callers together", async () => {
  const ask = await open({ throttle: { requestsPerSecond: 0.001, burst: 1 } });
  expect([(await ask({ authorization: "a" })).status, (await ask({ authorization: "b" })).status]).toEqual([
    200, 429,
  ]);
});

test.each([
  "nonsense\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
])("answers %j with 400 in JSON", async (bytes) => {
  const socket = connect(Number(new URL(inject("city").baseUrl).port), "127.0.0.1");
  socket.write(bytes);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1)).status).toBe("error");
});
