import { describe, expect, inject, test } from "vitest";
import { messagingClient } from "../steps/messaging.ts";
import { basicHeader } from "./system.ts";

const { messagingBaseUrl, baseUrl, basic, apiKey } = inject("city");
const { ask } = messagingClient(messagingBaseUrl, basic);
const good = basicHeader(basic);

const routes = [
  ["POST", "/send/message"],
  ["POST", "/send/image"],
  ["POST", "/send/file"],
  ["GET", "/messages/3EB0"],
] as const;

describe.each(routes)("%s %s", (method, path) => {
  test.each([
    ["no credentials", undefined],
    ["a blank header", ""],
    ["a wrong password", basicHeader({ ...basic, password: "wrong" })],
    ["a wrong user", basicHeader({ ...basic, username: "wrong" })],
    ["a bearer token", `Bearer ${good.slice(6)}`],
    ["what is not base64", "Basic §§§".replaceAll("§", "%")],
    ["credentials that are not encoded", `Basic ${basic.username}:${basic.password}`],
  ])("answers 401 and a challenge to %s, before it looks at the body", async (_, authorization) => {
    const response = await fetch(`${messagingBaseUrl}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      ...(method === "POST" && { body: "{" }),
    });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Basic realm="messaging", charset="UTF-8"');
    expect(await response.json()).toEqual({
      status: false,
      code: "UNAUTHORIZED",
      message: expect.stringContaining("Authorization: Basic"),
    });
  });
});

test("credentials in the address, and an API key, open nothing", async () => {
  const address = new URL("/messages/3EB0", messagingBaseUrl);
  address.searchParams.set("authorization", good);
  expect((await fetch(address)).status).toBe(401);
  expect((await fetch(address, { headers: { apikey: apiKey } })).status).toBe(401);
});

test("the credentials open no endpoint of the other API", async () => {
  const response = await fetch(`${baseUrl}/v1/simpeg/pegawai`, { headers: { authorization: good } });
  expect(response.status).toBe(401);
});

describe("an unknown route", () => {
  test.each([
    ["POST", "/"],
    ["POST", "/v1/send/message"],
    ["POST", "/send"],
    ["POST", "/send/message/"],
    ["POST", "/send/audio"],
    ["GET", "/send/message"],
    ["PUT", "/send/image"],
    ["DELETE", "/messages/3EB0"],
    ["POST", "/messages/3EB0"],
    ["GET", "/messages"],
    ["GET", "/messages/"],
    ["GET", "/messages/3EB0/x"],
    ["POST", "/v1/penduduk"],
  ])("answers 404 to %s %s, with and without credentials", async (method, path) => {
    const { status, json } = await ask(path, { method });
    expect([status, json]).toEqual([
      404,
      { status: false, code: "NOT_FOUND", message: expect.stringContaining("no such endpoint") },
    ]);
    expect((await fetch(`${messagingBaseUrl}${path}`, { method })).status).toBe(404);
  });

  test("is what the messaging endpoints are for the integration API", async () =>
    expect((await fetch(`${baseUrl}/send/message`, { method: "POST" })).status).toBe(404));
});

test("no answer lets a page of another origin read it, or ask beforehand", async () => {
  const origin = "https://app.example";
  const preflight = await fetch(`${messagingBaseUrl}/send/message`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect(preflight.status).toBe(404);
  const refused = await fetch(`${messagingBaseUrl}/send/message`, { method: "POST", headers: { origin } });
  const asked = await ask("/send/message", { headers: { origin } });
  for (const { headers } of [preflight, refused, asked])
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

describe("a body over a limit is 413:", () => {
  const big = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, "a");
  const multipart = { "content-type": "multipart/form-data; boundary=x" };
  test.each([
    ["/send/message", 1, { "content-type": "application/json" }],
    ["/send/message", 7, { "content-type": "application/json" }],
    ["/send/image", 11, multipart],
    ["/send/file", 5, multipart],
  ])("%s with %i MB", async (path, megabytes, headers) => {
    const { status, json } = await ask(path, { headers, body: big(megabytes) });
    expect([status, json]).toEqual([
      413,
      { status: false, code: "PAYLOAD_TOO_LARGE", message: expect.any(String) },
    ]);
  });
});

test("every answer of an endpoint has a request id and is kept by nobody", async () => {
  const { headers } = await ask("/send/message");
  expect(headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  expect(headers.get("cache-control")).toBe("no-store");
});
