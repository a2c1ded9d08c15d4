import { setTimeout } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { ApiError } from "#lib/errors/api-error.ts";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { type Auth, type Route, route } from "#lib/routes/route.ts";

vi.spyOn(process.stdout, "write").mockReturnValue(true);

const row: Route<unknown, { n: number }, unknown, "json" | "form"> = route({
  fn: "tourism/test",
  method: "POST",
  path: "/test",
  summary: "",
  auth: { kind: "public" },
  body: z.object({ n: z._default(z.int({ error: "n must be whole" }), 1) }),
  reply: z.unknown(),
  errors: integrationEnvelope,
  secrets: {},
  timeoutSeconds: 1,
  memoryMb: 128,
});

const identity = { sourceIp: "203.0.113.1" };

const ask = async (
  work: (n: number) => Promise<unknown>,
  event: object = {},
  { remaining = 5_000, of = row } = {},
) => {
  const handler = endpoint(of).handler(({ body }) => work(body.n));
  const full = { headers: null, body: null, requestContext: { requestId: "id-1", identity }, ...event };
  const { statusCode, body, headers } = await handler(
    full as never,
    { getRemainingTimeInMillis: () => remaining } as never,
  );
  return { status: statusCode, json: JSON.parse(body), headers };
};

test("an event without headers or body is a default request", async () =>
  expect(await ask(async (n) => ({ n }))).toMatchObject({ status: 200, json: { n: 1 } }));

test("a body in base64 is read", async () => {
  const body = Buffer.from('{"n":7}').toString("base64");
  const event = { headers: { "CONTENT-TYPE": "application/json" }, body, isBase64Encoded: true };
  expect((await ask(async (n) => ({ n }), event)).json).toEqual({ n: 7 });
});

test("a handler that takes too long gets an answer in the area's format before Lambda's timeout", async () => {
  const { status, json } = await ask(() => new Promise(() => {}), {}, { remaining: 350 });
  expect([status, json]).toEqual([
    504,
    { status: "error", code: "timeout", message: expect.any(String), request_id: "id-1" },
  ]);
});

test("the answer is 504 from 300 ms before Lambda's timeout on", async () => {
  // what Lambda itself ends has no body and no request id: 200 ms must be left for the answer
  const { status } = await ask(() => setTimeout(50), {}, { remaining: 200 });
  expect(status).toBe(504);
});

const encodings = {
  json: { type: "application/json", write: (n: number, bytes: number) => `{"n":${n}}`.padEnd(bytes) },
  form: {
    type: "application/x-www-form-urlencoded",
    write: (n: number, bytes: number) => `n=${n}&m=`.padEnd(bytes, "x"),
  },
} as const;

test.each([false, true])("white space is no body, in base64: %s", async (isBase64Encoded) => {
  const body = isBase64Encoded ? btoa(" \n") : " \n";
  expect((await ask(async (n) => ({ n }), { body, isBase64Encoded })).json).toEqual({ n: 1 });
});

describe.each(["json", "form"] as const)("a body in the encoding %s", (encoding) => {
  const { type, write } = encodings[encoding];
  const send = (text: string, isBase64Encoded: boolean, more: Partial<typeof row>) =>
    ask(
      async (n) => ({ n }),
      { headers: { "content-type": type }, body: isBase64Encoded ? btoa(text) : text, isBase64Encoded },
      { of: { ...row, encoding, body: z.object({ n: z.coerce.number() }), ...more } },
    );

  test.each([
    ["64 KiB", {}, 65_536],
    ["what its route allows", { maxBodyBytes: 100 }, 100],
  ])("is read up to %s and gets 413 above, as text and in base64", async (_, more, limit) => {
    for (const base64 of [false, true]) {
      expect(await send(write(7, limit), base64, more)).toMatchObject({ status: 200, json: { n: 7 } });
      const { status, json } = await send(write(7, limit + 1), base64, more);
      expect([status, json.code, json.message]).toEqual([
        ...[413, "payload_too_large", expect.stringContaining(`${limit} bytes`)],
      ]);
    }
  });

  test("is measured in bytes, not in characters", async () =>
    expect((await send(`${write(7, 98)}é`, false, { maxBodyBytes: 99 })).status).toBe(413));
});

test("errors come in the order 403 without the scope, 413 for a large body, 400 for a wrong one", async () => {
  const of = { ...row, auth: { kind: "bearer", scope: "employee:read" }, maxBodyBytes: 5 } as const;
  const send = (scopes: string, body: string) => {
    const authorizer = { account_id: "a", scopes, expires_at: "9999999999" };
    return ask(
      async () => "data",
      { body, requestContext: { requestId: "x", identity, authorizer } },
      { of },
    );
  };
  expect((await send("employee:ticket", "{broken")).status).toBe(403);
  expect((await send("employee:read", "{broken")).status).toBe(413);
  expect((await send("employee:read", "{brok")).status).toBe(400);
});

describe("a thrown error", () => {
  test("that is a ApiError is returned", async () => {
    const { status, json } = await ask(async () => {
      throw new ApiError({ status: 409, code: "conflict", message: "Already there" });
    });
    expect([status, json.code, json.message]).toEqual([409, "conflict", "Already there"]);
  });

  test.each([
    [new Error("secret detail")],
    ["secret detail"],
    [undefined],
    [{ statusCode: 200, body: "secret detail" }],
  ])("%j becomes a 500 with the request id only", async (thrown) => {
    const { status, json } = await ask(async () => {
      throw thrown;
    });
    expect([status, json.code, json.request_id]).toEqual([500, "internal_error", "id-1"]);
    expect(JSON.stringify(json)).not.toContain("secret detail");
  });
});

test("every answer has the request id, and only a success of a cacheable route is cached", async () => {
  const cached = { ...row, cache: { maxAgeSeconds: 60 } };
  const failing = async () => {
    throw new Error("broken");
  };
  for (const [of, work, status, cache] of [
    [row, async () => "data", 200, "no-store"],
    [row, failing, 500, "no-store"],
    [cached, async () => "data", 200, "public, max-age=60"],
    [cached, failing, 500, "no-store"],
  ] as const)
    expect(await ask(work, {}, { of })).toMatchObject({
      ...{ status, headers: { "x-request-id": "id-1", "cache-control": cache } },
    });
});

test.each<Auth>([
  { kind: "apiKey", scope: "resident:read" },
  { kind: "bearer", scope: "employee:read" },
  { kind: "basic" },
])("a route with auth $kind rejects everyone when no authorizer ran, or another one", async (auth) => {
  const handler = endpoint({ ...row, auth }).handler(async () => "data");
  for (const authorizer of [undefined, { principalId: "x" }]) {
    const { statusCode } = await handler(
      { headers: {}, body: null, requestContext: { requestId: "x", identity: {}, authorizer } } as never,
      {} as never,
    );
    expect(statusCode).toBe(401);
  }
});

describe("path segments and headers", () => {
  const error = "must be digits";
  const digits = (name: string) => z.string().check(z.regex(/^\d+$/, { error: `${name} ${error}` }));
  const described = route({
    ...{
      fn: "tourism/test",
      method: "GET",
      path: "/test/{id}",
      summary: "",
      timeoutSeconds: 1,
      memoryMb: 128,
    },
    ...{ auth: { kind: "public" }, errors: integrationEnvelope, secrets: {}, reply: z.unknown() },
    params: z.object({ id: digits("id") }),
    headers: z.object({ "x-n": z.optional(digits("x-n")) }),
  });
  const read = async (id: string, multiValueHeaders: Record<string, string[]>) => {
    const handler = endpoint(described).handler(async ({ params, headers }) => ({ ...params, ...headers }));
    const event = { headers: {}, multiValueHeaders, body: null, pathParameters: { id } };
    const { statusCode, body } = await handler(
      { ...event, requestContext: { requestId: "x", identity } } as never,
      {} as never,
    );
    return [statusCode, JSON.parse(body)];
  };

  test("are parsed by their schemas, with header names in any case", async () =>
    expect(await read("7", { "X-N": ["8"], other: ["x"] })).toEqual([200, { id: "7", "x-n": "8" }]));

  test("get 400 when they are invalid, and repeated headers become one list", async () => {
    expect(await read("x", {})).toMatchObject([400, { message: "id must be digits" }]);
    expect(await read("7", { "x-n": ["8", "9"] })).toMatchObject([400, { message: "x-n must be digits" }]);
  });
});
