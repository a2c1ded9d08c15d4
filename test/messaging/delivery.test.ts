import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { shownOf, useDeliveringCity } from "../steps/city/delivering-city.ts";
import { formOf } from "../steps/messaging.ts";

const city = useDeliveringCity({ receipts: ["delivered", "read"], receiptDelayMs: 20 });
const phone = "6281234567890";
const notRegistered = "6281234560000";

const raw = { width: 400, height: 300, channels: 3 } as const;
const png = await sharp(randomBytes(400 * 300 * 3), { raw })
  .png()
  .toBuffer();

const sendText = async (message: string, headers: Record<string, string> = {}): Promise<string> => {
  const { status, json } = await city.client.sendMessage({ phone, message }, headers);
  expect(status).toBe(200);
  return json.data.id;
};
const sendImage = async (fields: Record<string, string | Buffer>): Promise<string> => {
  const { status, json } = await city.client.sendForm("image", formOf({ phone, image: png, ...fields }));
  expect(json).toMatchObject({ status: true });
  expect(status).toBe(200);
  return json.data.id;
};
const sendFile = async (fields: Record<string, string | Buffer>, fileName?: string): Promise<string> => {
  const { status, json } = await city.client.sendForm("file", formOf({ phone, ...fields }, fileName));
  expect(json).toMatchObject({ code: "SUCCESS" });
  expect(status).toBe(200);
  return json.results.message_id;
};

describe("a text", () => {
  test.each([
    "*b* _i_ ~s~ `m` ```block```",
    " first\r\n\tsecond  \n",
    "ñ é 👍🏽 \u202eمرحبا\u202c 文 \u{1f469}\u200d\u{1f467}",
    '{"json": true} <b>&amp;</b> \\n %20 $1',
    "文".repeat(65_536),
  ])("reaches the phone unchanged: %#", async (message) => {
    const id = await sendText(message);
    expect((await city.arrived(phone, id)).text).toBe(message);
  });

  test("reaches the phone with its duration, forwarded flag and quoted message", async () => {
    const first = await sendText("quoted");
    await city.arrived(phone, first);
    const options = { reply_message_id: first, is_forwarded: true, duration: 86_400 };
    const { json } = await city.client.sendMessage({ phone, message: "Kode: 123456", ...options });
    const received = await city.arrived(phone, json.data.id);
    expect(received.text).toBe("Kode: 123456");
    const { context } = shownOf(received);
    expect(context).toMatchObject({ isForwarded: true, expiration: 86_400, stanzaId: first });
    expect(context.quotedMessage.extendedTextMessage.text).toBe("quoted");
  });

  test("is answered as PENDING, and becomes READ", async () => {
    const { status, json } = await city.client.sendMessage({ phone, message: "Halo" });
    expect([status, json]).toEqual([
      200,
      {
        status: true,
        data: { id: expect.stringMatching(/^3EB0/), status: "PENDING", message: expect.any(String) },
      },
    ]);
    await city.becomes(json.data.id, "READ");
    expect((await city.client.read(json.data.id)).json).toEqual({
      status: true,
      data: {
        id: json.data.id,
        status: "READ",
        account: "main",
        channel: "whatsapp",
        accepted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        changed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    });
  });

  test("to an unregistered number fails with a reason", async () => {
    const { status, json } = await city.client.sendMessage({ phone: notRegistered, message: "x" });
    expect(status).toBe(200);
    await city.becomes(json.data.id, "FAILED");
    expect((await city.client.read(json.data.id)).json.data.reason).toBe(
      "the number is not registered on the platform",
    );
  });

  test("that the platform rejects fails with a reason", async () => {
    city.platform.behave({ ...city.platform.behaviour, nack: { code: 499, messages: 1 } });
    const id = await sendText("refused");
    await city.becomes(id, "FAILED");
    expect((await city.client.read(id)).json.data.reason).toContain("499");
  });
});

describe("an image", () => {
  test("reaches the phone unchanged, without options", async () => {
    const { status, json } = await city.client.sendForm("image", formOf({ phone, image: png }));
    expect([status, json]).toEqual([
      200,
      { status: true, data: { id: expect.any(String), status: "PENDING", message: expect.any(String) } },
    ]);
    const received = await city.arrived(phone, json.data.id);
    expect([received.type, received.text]).toEqual(["imageMessage", ""]);
    expect(received.media?.bytes.equals(png)).toBe(true);
    const { mimetype, viewOnce, context } = shownOf(received);
    expect([mimetype, viewOnce, context.isForwarded, context.expiration]).toEqual([
      "image/png",
      undefined,
      undefined,
      undefined,
    ]);
    expect(received.message.viewOnceMessage ?? undefined).toBeUndefined();
  });

  test("reaches a number with the platform's suffix, with all options", async () => {
    const caption = "*Bukti* ~lama~ ñ 👍";
    const id = await sendImage({
      phone: `${phone}@s.whatsapp.net`,
      caption,
      view_once: "true",
      is_forwarded: "true",
      duration: "86400",
      compress: "true",
    });
    const received = await city.arrived(phone, id);
    expect(received.text).toBe(caption);
    const { mimetype, viewOnce, context } = shownOf(received);
    expect({ mimetype, viewOnce }).toEqual({ mimetype: "image/jpeg", viewOnce: true });
    expect(context).toMatchObject({ isForwarded: true, expiration: 86_400 });
    const { bytes } = received.media ?? expect.fail("there is no image");
    expect(bytes.length).toBeLessThan(png.length);
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([400, 300]);
  });

  test("does not disappear with duration=0", async () => {
    const received = await city.arrived(phone, await sendImage({ duration: "0" }));
    expect(shownOf(received).context.expiration).toBeUndefined();
  });
});

describe("a file", () => {
  test("reaches the phone with its name, caption, forwarded flag, duration and quoted message", async () => {
    const first = await sendText("first");
    await city.arrived(phone, first);
    const caption = "Berkas *penting* ñ";
    const content = randomBytes(5_000);
    const options = { reply_message_id: first, is_forwarded: "true", duration: "604800" };
    const name = "Surat Keterangan (1) ñ 文 👍.pdf";
    const received = await city.arrived(phone, await sendFile({ caption, ...options, file: content }, name));
    expect([received.type, received.text, received.media?.fileName]).toEqual([
      "documentMessage",
      caption,
      name,
    ]);
    expect(received.media?.bytes.equals(content)).toBe(true);
    const { context } = shownOf(received);
    expect(context).toMatchObject({ isForwarded: true, expiration: 604_800, stanzaId: first });
    expect(context.quotedMessage.extendedTextMessage.text).toBe("first");
  });

  test("may reply to an unknown message", async () => {
    const file = Buffer.from("x");
    const received = await city.arrived(
      phone,
      await sendFile({ reply_message_id: "3A0123456789ABCDEF", file }),
    );
    expect(shownOf(received).context.stanzaId).toBe("3A0123456789ABCDEF");
  });

  test("of 4 MiB, the limit for uploads, reaches the phone unchanged", async () => {
    const file = randomBytes(4 * 1024 * 1024);
    const received = await city.arrived(phone, await sendFile({ file }, "besar.bin"));
    expect(received.media?.bytes.equals(file)).toBe(true);
  });

  test("of one byte more is 413 with a hint to use file_url", async () => {
    const form = formOf({ phone, file: Buffer.alloc(4 * 1024 * 1024 + 1) });
    const { status, json } = await city.client.sendForm("file", form);
    expect([status, json]).toEqual([
      413,
      { status: false, code: "PAYLOAD_TOO_LARGE", message: expect.stringContaining("file_url") },
    ]);
  });

  test("is answered with destination, server timestamp and the same text twice", async () => {
    const before = Date.now();
    const { status, json } = await city.client.sendForm("file", formOf({ phone, file: Buffer.from("x") }));
    expect([status, json]).toEqual([
      200,
      {
        code: "SUCCESS",
        message: expect.stringContaining(phone),
        results: { message_id: expect.stringMatching(/^3EB0/), status: json.message },
      },
    ]);
    const [time = ""] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(json.message) ?? [];
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before - 1_000);
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now() + 1_000);
    await city.becomes(json.results.message_id, "READ");
  });
});

test.each(["http://127.0.0.1/a.png", "http://169.254.169.254/latest/meta-data/", "http://localhost/a.png"])(
  "an internal URL is 400, and nothing is sent: %s",
  async (address) => {
    for (const kind of ["image", "file"]) {
      const { status, json } = await city.client.sendForm(kind, formOf({ phone, [`${kind}_url`]: address }));
      expect([status, json]).toEqual([
        400,
        { status: false, code: "VALIDATION_ERROR", message: expect.any(String) },
      ]);
    }
  },
);

describe("an Idempotency-Key", () => {
  test("repeats the answer, and the phone gets one message", async () => {
    const key = { "idempotency-key": "delivery-1" };
    const id = await sendText("once", key);
    await city.becomes(id, "READ");
    expect(await sendText("once", key)).toBe(id);
    const last = await sendText("after");
    await city.arrived(phone, last);
    expect(city.platform.phone(phone).inbox.filter(({ text }) => text === "once")).toHaveLength(1);
  });

  test("yields one message for concurrent requests", async () => {
    const send = () =>
      city.client.sendForm("file", formOf({ phone, file: png }), { "idempotency-key": "delivery-2" });
    const answers = await Promise.all(Array.from({ length: 8 }, send));
    const ids = answers.filter(({ status }) => status === 200).map(({ json }) => json.results.message_id);
    expect(new Set(ids).size).toBe(1);
    for (const { status, json } of answers.filter((answer) => answer.status !== 200))
      expect([status, json.code]).toEqual([409, "IDEMPOTENCY_KEY_IN_USE"]);
  });

  test("that was used for another message is 422", async () => {
    const key = { "idempotency-key": "delivery-3" };
    await sendText("one", key);
    const { status, json } = await city.client.sendMessage({ phone, message: "two" }, key);
    expect([status, json]).toEqual([
      422,
      { status: false, code: "IDEMPOTENCY_KEY_REUSED", message: expect.any(String) },
    ]);
  });
});

test("200 concurrent sends are all accepted, and all arrive", { timeout: 240_000 }, async () => {
  const numbers = Array.from({ length: 10 }, (_, i) => `62812345670${10 + i}`);
  const send = (i: number) =>
    city.client.sendMessage({ phone: numbers[i % numbers.length], message: `massal ${i}` });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => send(i)));
  expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  const inboxes = () => city.platform.phones.filter(({ number }) => numbers.includes(number));
  await city.platform.until(
    () => inboxes().reduce((sum, { inbox }) => sum + inbox.length, 0) === 200,
    100_000,
  );
  const texts = inboxes().flatMap(({ inbox }) => inbox.map(({ text }) => text));
  expect(texts.toSorted()).toEqual(Array.from({ length: 200 }, (_, i) => `massal ${i}`).toSorted());
});

test("no phone failed to decrypt a message, and the platform got no unknown stanza", () => {
  expect(city.platform.phones.flatMap(({ failures }) => failures)).toEqual([]);
  expect(city.platform.faults).toEqual([]);
});
