import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { useMessagingCity } from "../steps/city/messaging-city.ts";
import { acceptedAt, reply } from "../steps/fake-messenger.ts";
import { basicHeader, messagingClient } from "../steps/messaging.ts";
import { wrongKeys, wrongMessages, wrongOptions, wrongPhones } from "./cases/messaging-text.ts";

const city = useMessagingCity();
const phone = "6281234567890";

describe("POST /send/message", () => {
  test("returns status true and the id of a pending message", async () => {
    const { status, json } = await city.client.sendMessage({ phone, message: "Halo" });
    expect([status, json]).toEqual([
      200,
      { status: true, data: { id: "3EB0PLAYED", status: "PENDING", message: expect.any(String) } },
    ]);
  });

  test("hands the text over unchanged, with its formatting", async () => {
    const message = " *b* _i_ ~s~ `m` ```block```\r\n\tñ é 👍🏽 \u202eمرحبا  ";
    await city.client.sendMessage({ phone, message });
    expect(city.task.handed.map(({ submission }) => submission)).toEqual([
      expect.objectContaining({ kind: "text", phone, text: message }),
    ]);
  });

  test("accepts at most 65536 characters, in any JSON spelling", async () => {
    const headers = { "content-type": "application/json" };
    const spelled = (length: number) => `{"phone": "${phone}", "message": "${"\\u6587".repeat(length)}"}`;
    const { status } = await city.client.ask("/send/message", { headers, body: spelled(65_536) });
    expect(status).toBe(200);
    expect(city.task.handed[0]?.submission?.text).toBe("文".repeat(65_536));
    const { json } = await city.client.ask("/send/message", { headers, body: spelled(65_537) });
    expect(json).toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test.each([phone, `${phone}@s.whatsapp.net`, `${phone}@S.WhatsApp.net`])(
    "hands a text to %s over with the bare number",
    async (suffixed) => {
      expect((await city.client.sendMessage({ phone: suffixed, message: "x" })).status).toBe(200);
      expect(city.task.handed[0]?.submission?.phone).toBe(phone);
    },
  );

  test("hands over the duration, the forwarded flag and the quoted message", async () => {
    const options = { reply_message_id: "3EB0FF", is_forwarded: true, duration: 86_400 };
    expect((await city.client.sendMessage({ phone, message: "x", ...options })).status).toBe(200);
    const expected = { reply_to: "3EB0FF", is_forwarded: true, duration_seconds: 86_400 };
    expect(city.task.handed[0]?.submission).toMatchObject(expected);
  });

  test.each([null, "", " ", "null", "undefined"])(
    "treats a duration, flag and quoted message of %j as absent",
    async (none) => {
      const options = { reply_message_id: none, is_forwarded: none, duration: none };
      expect((await city.client.sendMessage({ phone, message: "null", ...options })).status).toBe(200);
      expect(city.task.handed[0]?.submission).toEqual({
        sender: expect.stringMatching(/^api:./),
        ...{ kind: "text", phone, text: "null", class: "transactional" },
        ...{ view_once: false, compress: false, is_forwarded: false, expires_in_seconds: 259_200 },
      });
    },
  );

  test.each(wrongOptions)("hands nothing over with %s %j", async (name, wrong, words) => {
    const { status, json } = await city.client.sendMessage({ phone, message: "x", [name]: wrong });
    expect([status, json.message]).toEqual([400, expect.stringContaining(words)]);
    expect(city.task.handed).toEqual([]);
  });

  test("reads JSON with a byte order mark, and keeps one within the text", async () => {
    const headers = { "content-type": "application/json" };
    const body = `\ufeff${JSON.stringify({ phone, message: "\ufeffx" })}`;
    expect((await city.client.ask("/send/message", { headers, body })).status).toBe(200);
    expect(city.task.handed[0]?.submission?.text).toBe("\ufeffx");
  });

  test("ignores unknown fields", async () => {
    await city.client.sendMessage({
      phone,
      message: "x",
      kind: "file",
      url: "http://x",
      class: "one-time-code",
    });
    expect(city.task.handed[0]?.submission).toMatchObject({ kind: "text", class: "transactional" });
    expect(city.task.handed[0]?.submission?.url).toBeUndefined();
  });

  test.each(wrongPhones)(
    "answers 400 to a phone that is %s, and says how to fix it",
    async (_, wrong, hint) => {
      const { status, json } = await city.client.sendMessage({ phone: wrong, message: "x" });
      expect([status, json]).toEqual([
        400,
        { status: false, code: "VALIDATION_ERROR", message: expect.stringContaining(hint) },
      ]);
      expect(city.task.handed).toEqual([]);
    },
  );

  test.each(["62812345", "628123456789012"])("accepts %s, of 8 and of 15 digits", async (shortest) =>
    expect((await city.client.sendMessage({ phone: shortest, message: "x" })).status).toBe(200),
  );

  test.each(wrongMessages)("hands nothing over of a message that is %j", async (message) => {
    expect((await city.client.sendMessage({ phone, message })).status).toBe(400);
    expect(city.task.handed).toEqual([]);
  });

  test("reports all errors at once", async () =>
    expect((await city.client.sendMessage({})).json.message).toMatch(/^phone .*; message /));
});

describe("an Idempotency-Key", () => {
  test.each(["k", "~".repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"'])(
    "is handed over unchanged: %s",
    async (key) => {
      await city.client.sendMessage({ phone, message: "x" }, { "Idempotency-Key": key });
      expect(city.task.handed[0]?.submission?.idempotency_key).toBe(key);
    },
  );

  test.each(wrongKeys)("that is %j gets 400, and nothing is handed over", async (key) => {
    const { status } = await city.client.sendMessage({ phone, message: "x" }, { "idempotency-key": key });
    expect(status).toBe(400);
    expect(city.task.handed).toEqual([]);
  });

  test("that is sent in two headers gets 400", async () => {
    const { messagingBaseUrl, basic } = city.own.city;
    const headers = { authorization: basicHeader(basic), "content-type": "application/json" };
    const sending = request(`${messagingBaseUrl}/send/message`, {
      method: "POST",
      headers: { ...headers, "idempotency-key": ["a", "b"] },
    }).end(JSON.stringify({ phone, message: "x" }));
    const [response] = await once(sending, "response");
    expect(await text(response)).toContain("Idempotency-Key must be sent once");
    expect(response.statusCode).toBe(400);
  });
});

test.each([
  [409, "idempotency_key_in_use", 1],
  [422, "idempotency_key_reused", undefined],
  [503, "unavailable", 30],
])("the messenger's %i is returned", async (refusal, code, seconds) => {
  city.task.behave((_, response) =>
    reply(response, refusal, { code, message: "As the task says", retry_after_seconds: seconds }),
  );
  const { status, headers, json } = await city.client.sendMessage({ phone, message: "x" });
  expect([status, json]).toEqual([
    refusal,
    { status: false, code: code.toUpperCase(), message: "As the task says" },
  ]);
  expect(headers.get("retry-after")).toBe(seconds === undefined ? null : String(seconds));
});

describe("GET /messages/{id}", () => {
  const state = { id: "3EB0AA", status: "FAILED", reason: "no such number" };
  const times = { accepted_at: acceptedAt, changed_at: acceptedAt };

  test("returns the status of a message", async () => {
    city.task.behave((_, response) => reply(response, 200, { ...state, ...times, phone }));
    const { status, json } = await city.client.read("3EB0AA");
    expect([status, json]).toEqual([200, { status: true, data: { ...state, ...times } }]);
    expect(city.task.handed[0]?.path).toBe(`/messages/3EB0AA?sender=api%3A${city.own.city.basic.username}`);
  });

  test("answers 404 to an unknown id", async () => {
    city.task.behave((_, response) => reply(response, 404, { code: "message_not_found", message: "No" }));
    const { status, json } = await city.client.read("3EB0BB");
    expect([status, json]).toEqual([
      404,
      {
        status: false,
        code: "MESSAGE_NOT_FOUND",
        message: expect.stringContaining("No message has this ID."),
      },
    ]);
  });

  test.each(["%2e%2e%2fhealth", "a%20b", "x".repeat(65), "a;b"])(
    "answers 400 to %s, which is not an id, without calling the messenger",
    async (id) => {
      const { status, json } = await city.client.read(id);
      expect([status, json.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(city.task.handed).toEqual([]);
    },
  );
});

test("the API accepts a rotated credential and the previous one", async () => {
  const { city: running } = city.own;
  const next = { username: "city-backend-2", password: "neu:neu ü" };
  running.secrets.put(
    "municipal/local/messaging-basic",
    JSON.stringify({ credentials: [running.basic, next] }),
  );
  running.reload();
  for (const credentials of [next, running.basic]) {
    const client = messagingClient(running.messagingBaseUrl, credentials);
    expect((await client.sendMessage({ phone, message: "x" })).status).toBe(200);
  }
});

test("no log contains a number, text or key", () => {
  const lines = city.own.lines.join("\n");
  expect(city.own.lines.length).toBeGreaterThan(20);
  for (const planted of [phone, "Halo", "```block", "8e03978e", city.own.city.basic.password])
    expect(lines).not.toContain(planted);
});
