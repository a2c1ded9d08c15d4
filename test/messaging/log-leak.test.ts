import { afterEach, expect, test } from "vitest";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { formOf, messagingClient } from "../steps/messaging.ts";

const city = useDeliveringCity();

const phone = "6281399887766";
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** Data of callers that no log may contain. */
const planted = {
  text: "Kode PLANTED-TEXT 4711",
  caption: "PLANTED-CAPTION",
  fileName: "PLANTED-NAME.pdf",
  host: "planted-host.invalid",
  url: "http://planted-host.invalid/planted-path?signature=PLANTED-SIGNATURE",
  password: "PLANTED-PASSWORD",
  key: "PLANTED-KEY",
  reply: "PLANTED-REPLY",
};
/** Numbers of accepted and rejected messages. */
const numbers = [phone, "6281399880000", "081399887711", "6281399887722"];

const sendText = (to = phone) => city.client.sendMessage({ phone: to, message: planted.text });
const sendFile = (fields: Record<string, string | Buffer> = {}) =>
  city.client.sendForm(
    "file",
    formOf(
      { phone, caption: planted.caption, reply_message_id: planted.reply, file: png, ...fields },
      planted.fileName,
    ),
    { "idempotency-key": `${planted.key}-${city.own.lines.length}` },
  );

const forbidden = () => [
  ...Object.values(planted),
  ...numbers,
  city.own.city.basic.password,
  Buffer.from(`${city.own.city.basic.username}:${city.own.city.basic.password}`).toString("base64"),
  Buffer.from(planted.text).toString("base64"),
];

/** The log lines with planted values. */
const leaks = () =>
  city.own.lines.filter((line) =>
    forbidden().some((word) => line.toLowerCase().includes(word.toLowerCase())),
  );

const logged = (source: string) => city.own.lines.filter((line) => line.includes(source));

afterEach(() => {
  city.platform.behave({});
  expect(leaks()).toEqual([]);
});

test("logs do not contain accepted messages", async () => {
  const text = await sendText();
  await city.arrived(phone, text.json.data.id);
  const file = await sendFile();
  await city.arrived(phone, file.json.results.message_id);
  const image = await city.client.sendForm("image", formOf({ phone, image: png, caption: planted.caption }));
  await city.arrived(phone, image.json.data.id);
  expect(logged("messaging/send-file").length).toBeGreaterThan(0);
});

test("nor rejected messages", async () => {
  expect((await sendText("081399887711")).status).toBe(400);
  expect((await sendText("+6281399887722")).status).toBe(400);
  expect((await sendFile({ duration: planted.caption })).status).toBe(400);
  expect((await city.client.sendMessage(planted.text)).status).toBe(400);
  expect((await city.client.read(`${planted.reply}-1`)).status).toBe(404);
  const { messagingBaseUrl } = city.own.city;
  const stranger = messagingClient(messagingBaseUrl, { username: "x", password: planted.password });
  expect((await stranger.sendMessage({ phone, message: planted.text })).status).toBe(401);
});

test("nor a URL that cannot be fetched", async () => {
  for (const address of [planted.url, planted.url.replace(planted.host, "127.0.0.1")]) {
    const { status } = await city.client.sendForm("file", formOf({ phone, file_url: address }));
    expect(status).toBe(400);
  }
});

test("nor a form with a bad boundary, which is 500", async () => {
  const { status } = await city.client.ask("/send/file", {
    headers: { "content-type": "multipart/form-data" },
    body: `--x\r\nContent-Disposition: form-data; name="caption"\r\n\r\n${planted.caption}\r\n--x--\r\n`,
  });
  expect(status).toBe(500);
});

test("nor failed messages: to a number without an account, rejected by the platform", async () => {
  const unknown = await sendText("6281399880000");
  await city.becomes(unknown.json.data.id, "FAILED");
  city.platform.behave({ nack: { code: 499, messages: 1 } });
  const refused = await sendText();
  await city.becomes(refused.json.data.id, "FAILED");
});

test("nor messages that the platform drops, or sends without an answer", async () => {
  city.platform.behave({ dropUndelivered: 1 });
  const dropped = await sendText();
  await city.arrived(phone, dropped.json.data.id);
  city.platform.behave({ dropBeforeAck: 1 });
  const lost = await sendFile();
  await city.arrived(phone, lost.json.results.message_id);
  await city.becomes(lost.json.results.message_id, "DELIVERED");
  expect(logged("send got no answer").length).toBeGreaterThan(0);
});

test("nor media that the platform rejects", async () => {
  city.platform.behave({ mediaHosts: [500] });
  const { json } = await sendFile();
  await expect.poll(() => logged("message could not be prepared").length).toBeGreaterThan(0);
  city.platform.behave({});
  await city.arrived(phone, json.results.message_id);
});

test("nor messages that a phone cannot decrypt and requests again", async () => {
  city.platform.behave({ askAgain: 1 });
  const { json } = await sendText();
  await city.arrived(phone, json.data.id);
});

test("nor requests while the messenger is down", async () => {
  await city.own.city.messenger?.process.kill();
  expect((await sendText()).status).toBe(503);
  expect((await sendFile({ file: png })).status).toBe(503);
  expect(logged("messenger request failed").length).toBeGreaterThan(0);
});
