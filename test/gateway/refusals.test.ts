import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, inject, test } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { connectFor } from "../steps/connections.ts";
import { basicHeader } from "../steps/messaging.ts";

const { baseUrl, apiKey } = inject("city");
const post = (path: string, headers: Record<string, string> = {}, body?: string | Buffer) =>
  fetch(`${baseUrl}${path}`, { method: "POST", headers, ...(body !== undefined && { body }) });
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const jsonOf = async (response: Response): Promise<any> => response.json();

const addPartner = (plan = "standard", expiresAt?: Date) =>
  partnerDirectory(connectFor("partnerAdminUrl")).add(`p-${randomUUID().slice(0, 8)}`, plan, {
    scopes: ["resident:read"],
    expiresAt,
  });

test("answers 404 to a path with additional slashes", async () => {
  for (const path of ["/", "//v1/penduduk"]) expect((await post(path, { apikey: apiKey })).status).toBe(404);
});

test.each(["/v1/penduduk", "/v1/penduduk/search", "/v1/simpeg/pegawai", "/v1/pariwisata"])(
  "answers HEAD of %s with 404 and no body",
  async (path) => {
    const response = await fetch(`${baseUrl}${path}`, { method: "HEAD", headers: { apikey: apiKey } });
    expect([response.status, await response.text()]).toEqual([404, ""]);
  },
);

test.each([
  "/v1/pariwisata/kategori",
  "/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,2)",
  "/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,none)",
  "/v1/pariwisata/destinasi/galeri",
  "/openapi.json?lang=id",
  "/openapi.json?lang=fr",
  "/",
  "/docs/paging",
  "/docs/no-such-page",
])("answers HEAD of %s like GET, with the same headers and no body", async (path) => {
  const ask = async (method: string, more = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      ...{ method, redirect: "manual" },
      headers: { "accept-encoding": "identity", ...more },
    });
    const headers = [...response.headers].filter(
      ([name]) => !/^(connection|date|keep-alive|x-request-id)$/.test(name),
    );
    return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() };
  };
  const got = await ask("GET");
  expect(got.headers["content-length"]).toBe(String(Buffer.byteLength(got.body)));
  expect(await ask("HEAD")).toEqual({ ...got, body: "" });
  const current = { "if-none-match": got.headers.etag ?? '"none"' };
  expect(await ask("HEAD", current)).toEqual({ ...(await ask("GET", current)), body: "" });
});

describe("a caller without an active key", () => {
  test.each([
    ["an empty key", "/v1/penduduk", { apikey: "" }],
    ["a key in another header", "/v1/penduduk", { "x-api-key": apiKey }],
    ["a key in the query", `/v1/penduduk?apikey=${apiKey}`, {}],
    ["a bearer token", "/v1/penduduk/search", { authorization: `Bearer ${apiKey}` }],
    ["a key with something added", "/v1/penduduk", { apikey: `${apiKey}x` }],
  ])("gets 401 with a challenge for %s", async (_, path, headers) => {
    const response = await post(path, headers as Record<string, string>);
    const { code, status, request_id } = await jsonOf(response);
    expect([response.status, status, code]).toEqual([401, "error", "unauthorized"]);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer .*, ApiKey /);
    expect(response.headers.get("x-request-id")).toBe(request_id);
  });

  test("gets 401 for a revoked or expired key", async () => {
    const revoked = await addPartner();
    await partnerDirectory(connectFor("partnerAdminUrl")).revoke(revoked.keyId);
    const expired = await addPartner("standard", new Date(Date.now() - 1_000));
    for (const { key } of [revoked, expired])
      expect((await post("/v1/penduduk", { apikey: key })).status).toBe(401);
  });
});

test.each(["apikey", "APIKEY"])("accepts a key in the header %s", async (name) =>
  expect((await post("/v1/penduduk", { [name]: apiKey })).status).toBe(200),
);

test("answers 403 to a key without the scope, before it reads the body", async () => {
  const { keyId, key } = await addPartner();
  await connectFor("adminUrl")`update partner.api_key set scopes = '{tourism:write}' where id = ${keyId}`;
  const response = await post("/v1/penduduk", { apikey: key, "content-type": "application/json" }, "{");
  expect([response.status, (await jsonOf(response)).code]).toEqual([403, "forbidden"]);
});

test("a key without the scope for numbers searches by name only", async () => {
  const { key } = await addPartner();
  const search = (criteria: object) =>
    post(
      "/v1/penduduk/search",
      { apikey: key, "content-type": "application/json" },
      JSON.stringify(criteria),
    );
  for (const criteria of [{ p_nik: "9971011234567890" }, { p_nik: "9971011234567890", p_nama: "siti" }]) {
    const response = await search(criteria);
    const { code, message } = await jsonOf(response);
    expect([response.status, code]).toEqual([403, "forbidden"]);
    expect(message).toContain("resident:number");
  }
  expect((await search({ p_nama: "siti" })).status).toBe(200);
});

describe("a body over a limit", () => {
  const big = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, "a");
  const headers = { apikey: apiKey, "content-type": "application/json" };

  test.each([11, 7])("of %i MB is 413", async (megabytes) => {
    const response = await post("/v1/penduduk", headers, big(megabytes));
    expect([response.status, (await jsonOf(response)).code]).toEqual([413, "payload_too_large"]);
  });

  test("of a send request names the fields for the URL of a file", async () => {
    const { messagingBaseUrl, basic } = inject("city");
    const response = await fetch(`${messagingBaseUrl}/send/file`, {
      method: "POST",
      headers: { authorization: basicHeader(basic), "content-type": "multipart/form-data; boundary=x" },
      body: big(11),
    });
    const { code, message } = await jsonOf(response);
    expect([response.status, code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(message).toContain("file_url or image_url");
  });

  test("is 401 without a key, and 404 on an unknown route", async () => {
    expect((await post("/v1/penduduk", {}, big(11))).status).toBe(401);
    expect((await post("/v1/other", {}, big(11))).status).toBe(404);
  });
});

test("rate-limits a key by its plan with 429, Retry-After and RateLimit", async () => {
  const { key } = await addPartner("trial");
  const ask = (body?: string) => post("/v1/penduduk", { apikey: key }, body);
  expect((await ask()).status).toBe(200);
  // a few at once, which end early: on a busy machine full answers one by one are slower than the plan's 5 a second
  const answers: Response[] = [];
  while (!answers.some(({ status }) => status === 429) && answers.length < 200)
    answers.push(...(await Promise.all(Array.from({ length: 4 }, () => ask("{")))));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([400, 429]));
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(9);
  const response = answers.find(({ status }) => status === 429) ?? expect.fail("no request was limited");
  expect(response.headers.get("retry-after")).toBe("1");
  expect(response.headers.get("ratelimit")).toBe('"plan";r=0;t=1');
  expect((await jsonOf(response)).code).toBe("too_many_requests");
});

test("a key with an unknown plan gets 401, not 403", async () => {
  const { key } = await addPartner("gone");
  expect((await post("/v1/penduduk", { apikey: key })).status).toBe(401);
});

test("stores when a key was last used, without the key itself", async () => {
  const sql = connectFor("adminUrl");
  const { keyId, key } = await addPartner();
  await post("/v1/penduduk", { apikey: key });
  const [row] = await sql`select digest, last_used_at from partner.api_key where id = ${keyId}`;
  expect(row?.last_used_at).toBeInstanceOf(Date);
  expect(row?.digest).toEqual(digestToken(key));
});

test.each([
  "/v1/x/../penduduk",
  "/v1/x/%2e%2e/penduduk",
  "/v1/./penduduk",
  "/v1\\penduduk",
  "//x/v1/penduduk",
])("does not normalise the path %s: 404", async (path) => {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\napikey: ${apiKey}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
});
