import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { useMessagingCity } from "../steps/city/messaging-city.ts";
import { basicHeader, formOf } from "../steps/messaging.ts";

const city = useMessagingCity();
const phone = "6281234567890";
const send = (headers: Record<string, string>) => city.client.sendMessage({ phone, message: "x" }, headers);
const handed = () => city.task.handed.map(({ submission }) => submission);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test("a send without options is transactional, at once, for 72 hours", async () => {
  await send({});
  expect(handed()).toEqual([
    expect.objectContaining({ class: "transactional", expires_in_seconds: 259_200 }),
  ]);
  expect(handed()[0]).not.toHaveProperty("send_at");
});

test.each(["message", "image", "file"])("class, lifetime and time of a %s are handed over", async (kind) => {
  const at = inDays(29.9);
  const headers = { "x-class": "bulk", "X-EXPIRES-IN": "259200", "x-Send-At": at };
  const answer =
    kind === "message"
      ? await send(headers)
      : await city.client.sendForm(
          kind,
          formOf({ phone, [`${kind}_url`]: "https://files.city.example/a.png" }),
          headers,
        );
  expect(answer.status).toBe(200);
  expect(handed()).toMatchObject([{ class: "bulk", expires_in_seconds: 259_200, send_at: at }]);
});

test.each([
  ["one-time-code", {}, 300],
  ["one-time-code", { "x-expires-in": "60" }, 60],
  ["transactional", {}, 259_200],
  ["reminder", { "x-expires-in": "1" }, 1],
  ["bulk", {}, 259_200],
])("a message of the class %s with %j expires after %i seconds", async (kind, headers, seconds) => {
  expect((await send({ "x-class": kind, ...headers })).status).toBe(200);
  expect(handed()).toMatchObject([{ class: kind, expires_in_seconds: seconds }]);
});

test.each([
  ["2020-02-29T23:59:59Z", "2020-02-29T23:59:59.000Z"],
  ["2020-03-01T06:59:59+07:00", "2020-02-29T23:59:59.000Z"],
  ["2020-02-29t16:29:59.1z", "2020-02-29T16:29:59.100Z"],
  ["2020-02-29T16:29:59.1239999-07:30", "2020-02-29T23:59:59.123Z"],
  ["2020-01-01T00:00:00-00:00", "2020-01-01T00:00:00.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
])("%s is one time in any notation", async (written, read) => {
  expect((await send({ "x-send-at": written })).status).toBe(200);
  expect(handed()).toMatchObject([{ send_at: read }]);
});

const wrong: [string, string][] = [
  ...["BULK", "otp", "reminder, bulk", ""].map((value): [string, string] => ["X-Class", value]),
  ...["0", "-1", "1.5", "1e3", "259201", "1000000", "60, 60", "+5", "05", "soon", ""].map(
    (value): [string, string] => ["X-Expires-In", value],
  ),
  ...[
    "2026-02-29T08:00:00Z",
    "2026-02-30T08:00:00+07:00",
    "2026-04-31T08:00:00Z",
    "2026-13-01T08:00:00Z",
    "2026-00-01T08:00:00Z",
    "2026-05-01T24:00:00Z",
    "2026-05-01T08:60:00Z",
    "2016-12-31T23:59:60Z",
    "2026-05-01T08:00:00",
    "2026-05-01T08:00Z",
    "2026-05-01 08:00:00Z",
    "2026-05-01T08:00:00+7",
    "2026-05-01T08:00:00+24:00",
    "2026-05-01T08:00:00+07:60",
    "2026-05-01T08:00:00.Z",
    "26-05-01T08:00:00Z",
    "1780000000",
    "tomorrow",
    "",
    inDays(30.01),
    `${inDays(1)}, ${inDays(1)}`,
  ].map((value): [string, string] => ["X-Send-At", value]),
];

test.each(wrong)("%s: %s gets 400 with what to send, and nothing is handed over", async (name, value) => {
  const { status, json } = await send({ [name]: value });
  expect([status, json]).toEqual([
    400,
    {
      status: false,
      code: "VALIDATION_ERROR",
      message: expect.stringContaining(`${name} must be sent once,`),
    },
  ]);
  expect(handed()).toEqual([]);
});

test.each([
  ["X-Class", "bulk"],
  ["X-Expires-In", "60"],
  ["X-Send-At", "2026-05-01T08:00:00Z"],
])("%s in two headers gets 400", async (name, value) => {
  const { messagingBaseUrl, basic } = city.own.city;
  const headers = { authorization: basicHeader(basic), "content-type": "application/json" };
  const sending = request(`${messagingBaseUrl}/send/message`, {
    method: "POST",
    headers: { ...headers, [name]: [value, value] },
  }).end(JSON.stringify({ phone, message: "x" }));
  const [response] = await once(sending, "response");
  expect([response.statusCode, await text(response)]).toEqual([
    400,
    expect.stringContaining("must be sent once"),
  ]);
});

test("all invalid headers are reported at once", async () => {
  const { json } = await send({ "x-class": "x", "x-expires-in": "x", "x-send-at": "x" });
  expect(json.message).toMatch(/^X-Class .*; X-Expires-In .*; X-Send-At /);
});

describe("GET /messages", () => {
  const get = (path: string) => city.client.ask(path, { method: "GET" });
  const times = { accepted_at: "2025-06-01T08:00:00.123Z", changed_at: "2025-06-01T08:00:00.123Z" };
  const messages = [{ id: "3EB0AA", status: "CANCELLED", ...times }];
  const answerWith = (page: object, status = 200) =>
    city.task.behave((_, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(page));
    });

  test("returns a page of the sender's messages, and asks for 50 by default", async () => {
    answerWith({ messages: [{ ...messages[0], phone, text: "x" }], next: "n-_" });
    const { status, json } = await get("/messages");
    expect([status, json]).toEqual([200, { status: true, data: messages, next: "n-_" }]);
    const asked = new URL(city.task.handed[0]?.path ?? "", "http://task");
    expect([asked.pathname, Object.fromEntries(asked.searchParams)]).toEqual([
      "/messages",
      { sender: `api:${city.own.city.basic.username}`, limit: "50" },
    ]);
  });

  test("hands the filters over", async () => {
    answerWith({ messages: [], next: null });
    const query = "state=FAILED&since=2025-06-01T08:00:00%2B07:00&after=a-_9&limit=100";
    expect((await get(`/messages?${query}`)).json).toEqual({ status: true, data: [], next: null });
    const asked = new URL(city.task.handed[0]?.path ?? "", "http://task").searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ state: "FAILED", since: "2025-06-01T01:00:00.000Z", after: "a-_9", limit: "100" },
    });
  });

  test.each([
    ["state=failed", "state must be one of PENDING, "],
    ["state=FAILED&state=SENT", "state must be given once"],
    ["since=2025-06-31T08:00:00Z", "since must be a time"],
    ["since=2025-06-01T08:00:00+07:00", "since must be a time"],
    ["after=", "after must be next of the previous page"],
    ["after=a%20b", "after must be next of the previous page"],
    ["limit=0", "limit must be a whole number from 1 to 100"],
    ["limit=101", "limit must be a whole number from 1 to 100"],
    ["limit=1.5", "limit must be a whole number from 1 to 100"],
    ["sender=api:other", "A query parameter is unknown"],
  ])("answers 400 to %s without calling the messenger", async (query, words) => {
    const { status, json } = await get(`/messages?${query}`);
    expect([status, json.message]).toEqual([400, expect.stringContaining(words)]);
    expect(city.task.handed).toEqual([]);
  });

  test("answers 400 to an end of a page that the messenger does not know", async () => {
    answerWith(
      { code: "invalid_request", message: "after must be next of the previous page, unchanged" },
      400,
    );
    const { status, json } = await get("/messages?after=abc");
    expect([status, json.code]).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("DELETE /messages/{id}", () => {
  const remove = (id: string) => city.client.ask(`/messages/${id}`, { method: "DELETE" });
  const times = { accepted_at: "2025-06-01T08:00:00.123Z", changed_at: "2025-06-01T08:00:00.123Z" };

  test.each([
    [200, { id: "3EB0AA", status: "CANCELLED", ...times }, 200, undefined],
    [404, { code: "message_not_found", message: "No" }, 404, "MESSAGE_NOT_FOUND"],
    [409, { code: "not_waiting", message: "It no longer waits" }, 409, "NOT_WAITING"],
    [500, { code: "internal_error", message: "Lost" }, 503, "SESSION_UNAVAILABLE"],
  ])("passes the messenger's %i on", async (answered, body, expected, code) => {
    city.task.behave((_, response) => {
      response.writeHead(answered, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    const { status, json } = await remove("3EB0AA");
    expect([status, json.code, json.data]).toEqual([expected, code, expected === 200 ? body : undefined]);
    const { method, path } = city.task.handed[0] ?? expect.fail("it was not handed over");
    const sender = encodeURIComponent(`api:${city.own.city.basic.username}`);
    expect([method, path]).toEqual(["DELETE", `/messages/3EB0AA?sender=${sender}`]);
  });

  test.each(["a%20b", "x".repeat(65)])("answers 400 to %s, which is not an id", async (id) => {
    expect((await remove(id)).status).toBe(400);
    expect(city.task.handed).toEqual([]);
  });

  test("answers 503 while the messenger cannot be reached", async () => {
    city.task.behave((_, response) => void response.destroy());
    const { status, json, headers } = await remove("3EB0AA");
    expect([status, json.code, headers.get("retry-after")]).toEqual([503, "SESSION_UNAVAILABLE", "5"]);
  });
});
