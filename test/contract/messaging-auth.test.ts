import { describe, expect, inject, test } from "vitest";
import { basicHeader, messagingClient } from "../steps/messaging.ts";

const { messagingBaseUrl, baseUrl, basic, apiKey } = inject("city");
const { ask } = messagingClient(messagingBaseUrl, basic);
const good = basicHeader(basic);

const routes = [
  ["POST", "/send/message"],
  ["POST", "/send/image"],
  ["POST", "/send/file"],
  ["GET", "/messages"],
  ["GET", "/messages/3EB0"],
  ["DELETE", "/messages/3EB0"],
] as const;

describe.each(routes)("%s %s", (method, path) => {
  test.each([
    ["a wrong password", basicHeader({ ...basic, password: "wrong" })],
    ["a wrong user", basicHeader({ ...basic, username: "wrong" })],
    ["a bearer token", `Bearer ${good.slice(6)}`],
    ["credentials that are not encoded", `Basic ${basic.username}:${basic.password}`],
  ])("answers 401 with a challenge to %s, before it reads the body", async (_, authorization) => {
    const response = await fetch(`${messagingBaseUrl}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization },
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

test("credentials in the URL and API keys are rejected", async () => {
  const address = new URL("/messages/3EB0", messagingBaseUrl);
  address.searchParams.set("authorization", good);
  expect((await fetch(address)).status).toBe(401);
  expect((await fetch(address, { headers: { apikey: apiKey } })).status).toBe(401);
});

test("the integration API rejects the messaging credentials", async () => {
  const response = await fetch(`${baseUrl}/v1/simpeg/pegawai`, { headers: { authorization: good } });
  expect(response.status).toBe(401);
});

test("a body over the gateway's limit gets 413", async () => {
  const body = Buffer.alloc(11 * 1024 * 1024, "a");
  const { status, json } = await ask("/send/image", {
    headers: { "content-type": "multipart/form-data; boundary=x" },
    body,
  });
  expect([status, json]).toEqual([
    413,
    { status: false, code: "PAYLOAD_TOO_LARGE", message: expect.any(String) },
  ]);
});
