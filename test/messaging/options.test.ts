import { expect, test } from "vitest";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { formOf, messagingClient } from "../steps/messaging.ts";

const city = useDeliveringCity({ receipts: ["delivered", "read"], receiptDelayMs: 20 });
const phone = "6281234567890";

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const later = () => ({ "x-send-at": inSeconds(3_600) });
const sendText = async (message: string, headers: Record<string, string> = {}, to = phone): Promise<string> => {
  const { status, json } = await city.client.sendMessage({ phone: to, message }, headers);
  expect([status, json.status]).toEqual([200, true]);
  return json.data.id;
};
const cancel = (id: string) => city.client.ask(`/messages/${id}`, { method: "DELETE" });
const list = async (query: string) => (await city.client.ask(`/messages?${query}`, { method: "GET" })).json;
const textsOn = (number: string) => city.platform.phone(number).inbox.map(({ text }) => text);

test("a message for later waits, and arrives at its time, after later ones to its number", async () => {
  const at = inSeconds(4);
  const id = await sendText("scheduled", { "x-send-at": at });
  await city.becomes(await sendText("at once"), "READ");
  expect((await city.client.read(id)).json.data.status).toBe("PENDING");
  await city.becomes(id, "READ");
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at));
  expect(textsOn(phone).slice(-2)).toEqual(["at once", "scheduled"]);
});

test("a message of each class arrives, and its lifetime counts from its time", async () => {
  for (const kind of ["one-time-code", "transactional", "reminder", "bulk"])
    await city.becomes(await sendText(kind, { "x-class": kind, "x-expires-in": "60" }), "READ");
  const id = await sendText("short", { "x-send-at": inSeconds(2), "x-expires-in": "1" }, "6281234560000");
  // the number is not registered: it fails when its time has come, and has not expired before
  await city.becomes(id, "FAILED");
});

test("a cancelled message never arrives, and repeating its send with the same key returns its id", async () => {
  const headers = { ...later(), "idempotency-key": "options-1" };
  const id = await sendText("cancelled", headers);
  const first = await cancel(id);
  expect([first.status, first.json]).toMatchObject([200, { status: true, data: { id, status: "CANCELLED" } }]);
  expect((await cancel(id)).json).toEqual(first.json);
  expect((await city.client.read(id)).json).toEqual(first.json);
  expect(await sendText("cancelled", headers)).toBe(id);
  const other = await city.client.sendMessage({ phone, message: "cancelled" }, { "idempotency-key": "options-1" });
  expect([other.status, other.json.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  await city.becomes(await sendText("after"), "READ");
  expect(textsOn(phone)).not.toContain("cancelled");
  expect((await city.client.read(id)).json.data.status).toBe("CANCELLED");
});

test("a cancelled upload is not sent, and one that was sent is 409, an unknown one 404", async () => {
  const form = formOf({ phone, file: Buffer.from("A-12") });
  const { json } = await city.client.sendForm("file", form, later());
  expect((await cancel(json.results.message_id)).status).toBe(200);
  const sent = await sendText("sent");
  await city.becomes(sent, "READ");
  const refused = await cancel(sent);
  expect([refused.status, refused.json.code]).toEqual([409, "NOT_WAITING"]);
  const unknown = await cancel("3EB0UNKNOWN");
  expect([unknown.status, unknown.json.code]).toEqual([404, "MESSAGE_NOT_FOUND"]);
});

test("messages that are cancelled while they are being sent arrive or are cancelled, never both", async () => {
  const numbers = Array.from({ length: 10 }, (_, i) => `62812345680${10 + i}`);
  const ids = await Promise.all(
    Array.from({ length: 120 }, (_, i) => sendText(`race ${i}`, {}, numbers[i % numbers.length])),
  );
  const answers = await Promise.all(ids.toReversed().map(async (id) => [id, await cancel(id)] as const));
  const cancelled = answers.filter(([, { status }]) => status === 200).map(([id]) => id);
  for (const [, { status, json }] of answers)
    if (status !== 200) expect([status, json.code]).toEqual([409, "NOT_WAITING"]);
  const sent = ids.filter((id) => !cancelled.includes(id));
  for (const id of sent) await city.becomes(id, "READ");
  const arrived = numbers.flatMap((number) => city.platform.phone(number)?.inbox.map(({ id }) => id) ?? []);
  expect(arrived.toSorted()).toEqual(sent.toSorted());
  expect([cancelled.length > 0, sent.length > 0]).toEqual([true, true]);
});

test("a list has a backend's own messages, and another's page is not continued", async () => {
  const since = inSeconds(0);
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push(await sendText(`list ${n}`, n % 2 === 0 ? later() : {}));
  const found = async (after?: string): Promise<string[]> => {
    const page = await list(`since=${since}&limit=2${after ? `&after=${after}` : ""}`);
    const own = page.data.map(({ id }: { id: string }) => id);
    return page.next === null ? own : [...own, ...(await found(page.next))];
  };
  expect(await found()).toEqual(ids);
  const pending = await list(`since=${since}&state=PENDING`);
  expect(pending.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([ids[0], ids[2], ids[4]]));
  const { next } = await list("limit=1");
  const { city: running } = city.own;
  const other = { username: "another-backend", password: "p".repeat(40) };
  running.secrets.put("municipal/local/messaging-basic", JSON.stringify({ credentials: [running.basic, other] }));
  running.reload();
  const client = messagingClient(running.messagingBaseUrl, other);
  expect((await client.ask("/messages", { method: "GET" })).json).toEqual({ status: true, data: [], next: null });
  expect((await client.ask(`/messages?after=${next}`, { method: "GET" })).status).toBe(400);
  expect((await client.ask(`/messages/${ids[0]}`, { method: "DELETE" })).status).toBe(404);
});

test("backends take turns within a class, by the header X-Class", async () => {
  const { city: running } = city.own;
  const other = { username: "another-backend", password: "p".repeat(40) };
  running.secrets.put("municipal/local/messaging-basic", JSON.stringify({ credentials: [running.basic, other] }));
  running.reload();
  const client = messagingClient(running.messagingBaseUrl, other);
  const at = { "x-send-at": inSeconds(4) };
  const to = (n: number) => `62812345690${10 + n}`;
  const ids = [];
  for (let n = 0; n < 4; n++) ids.push(await sendText(`large ${n}`, { ...at, "x-class": "bulk" }, to(n)));
  for (let n = 4; n < 6; n++) {
    const headers = { ...at, "x-class": n === 4 ? "bulk" : "reminder" };
    const { json } = await client.sendMessage({ phone: to(n), message: `small ${n}` }, headers);
    ids.push(json.data.id);
  }
  for (const id of ids.slice(0, 4)) await city.becomes(id, "READ");
  const arrivals = ids.flatMap((id, n) => city.platform.phone(to(n)).inbox.filter((one) => one.id === id));
  const order = arrivals.toSorted((a, b) => a.timestamp - b.timestamp);
  expect(order).toHaveLength(6);
});
