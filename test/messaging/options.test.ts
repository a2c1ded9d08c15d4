import { expect, test } from "vitest";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { withCityDatabase } from "../steps/city/own-city.ts";
import { formOf, messagingClient } from "../steps/messaging.ts";

const city = useDeliveringCity({ receipts: ["delivered", "read"], receiptDelayMs: 20 });
const phone = "6281234567890";

/** @returns a client with its own credentials. */
const addBackend = () => {
  const { city: running } = city.own;
  const other = { username: "another-backend", password: "p".repeat(40) };
  const credentials = JSON.stringify({ credentials: [running.basic, other] });
  running.secrets.put("municipal/local/messaging-basic", credentials);
  running.reload();
  return messagingClient(running.messagingBaseUrl, other);
};

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const later = () => ({ "x-send-at": inSeconds(3_600) });
const sendText = async (
  message: string,
  headers: Record<string, string> = {},
  to = phone,
): Promise<string> => {
  const { status, json } = await city.client.sendMessage({ phone: to, message }, headers);
  expect([status, json.status]).toEqual([200, true]);
  return json.data.id;
};
const cancel = (id: string) => city.client.ask(`/messages/${id}`, { method: "DELETE" });
const list = async (query: string) => (await city.client.ask(`/messages?${query}`, { method: "GET" })).json;
/** Lets messages that are scheduled be sent now, once all of them are accepted. */
const makeDue = (ids: readonly string[], at = inSeconds(0)) =>
  withCityDatabase(city.own)(
    (sql) => sql`
      update messaging.message set not_before = ${at}, due_at = ${at}, held_until = ${at}
      where id = any(string_to_array(${ids.join()}, ',')) and state = 'PENDING'`,
  );
const textsOn = (number: string) => city.platform.phone(number).inbox.map(({ text }) => text);

test("a message for later waits, and arrives at its time, after later ones to its number", async () => {
  const headers = later();
  const id = await sendText("scheduled", headers);
  expect((await city.client.read(id)).json.data).toMatchObject({
    status: "PENDING",
    waiting_for: "scheduled",
    not_before: headers["x-send-at"],
  });
  await city.becomes(await sendText("at once"), "READ");
  expect(textsOn(phone).at(-1)).toBe("at once");
  const at = inSeconds(0.5);
  await makeDue([id], at);
  await city.becomes(id, "READ");
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at));
  expect(textsOn(phone).slice(-2)).toEqual(["at once", "scheduled"]);
});

test("a message of each class arrives", async () => {
  for (const kind of ["one-time-code", "transactional", "reminder", "bulk"])
    await city.becomes(await sendText(kind, { "x-class": kind, "x-expires-in": "60" }), "READ");
});

test("a cancelled message never arrives, and repeating its send with the same key returns its id", async () => {
  const headers = { ...later(), "idempotency-key": "options-1" };
  const id = await sendText("cancelled", headers);
  const first = await cancel(id);
  expect([first.status, first.json]).toMatchObject([
    200,
    { status: true, data: { id, status: "CANCELLED" } },
  ]);
  expect((await cancel(id)).json).toEqual(first.json);
  expect((await city.client.read(id)).json).toEqual(first.json);
  expect(await sendText("cancelled", headers)).toBe(id);
  const other = await city.client.sendMessage(
    { phone, message: "cancelled" },
    { "idempotency-key": "options-1" },
  );
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
  const arrived = () =>
    city.platform.phones
      .filter(({ number }) => numbers.includes(number))
      .flatMap(({ inbox }) => inbox.map(({ id }) => id));
  const ids = await Promise.all(
    Array.from({ length: 120 }, (_, i) => sendText(`race ${i}`, later(), numbers[i % numbers.length])),
  );
  const first = await Promise.all(ids.slice(0, 20).map(cancel));
  await makeDue(ids);
  await city.platform.until(() => arrived().length > 0, 60_000);
  const answers = [...first, ...(await Promise.all(ids.slice(20).map(cancel)))];
  const cancelled = ids.filter((_, i) => answers[i]?.status === 200);
  for (const { status, json } of answers)
    if (status !== 200) expect([status, json.code]).toEqual([409, "NOT_WAITING"]);
  const sent = ids.filter((id) => !cancelled.includes(id));
  for (const id of sent) await city.becomes(id, "READ");
  expect(arrived().toSorted()).toEqual(sent.toSorted());
  expect([cancelled.length >= 20, sent.length > 0]).toEqual([true, true]);
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
  expect(pending.data.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining([ids[0], ids[2], ids[4]]),
  );
  const { next } = await list("limit=1");
  const client = addBackend();
  expect((await client.ask("/messages", { method: "GET" })).json).toEqual({
    status: true,
    data: [],
    next: null,
  });
  expect((await client.ask(`/messages?after=${next}`, { method: "GET" })).status).toBe(400);
  expect((await client.ask(`/messages/${ids[0]}`, { method: "DELETE" })).status).toBe(404);
});

test("backends take turns within a class, and classes go by urgency", async () => {
  const client = addBackend();
  const headers = later();
  const to = (n: number) => `62812345690${10 + n}`;
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push(await sendText(`${n}`, { ...headers, "x-class": "bulk" }, to(n)));
  for (const [n, kind] of [
    [4, "bulk"],
    [5, "reminder"],
  ] as const) {
    const body = { phone: to(n), message: `${n}` };
    ids.push((await client.sendMessage(body, { ...headers, "x-class": kind })).json.data.id);
  }
  await makeDue(ids);
  const arrivals = await Promise.all(ids.map((id, n) => city.arrived(to(n), id)));
  const texts = arrivals.toSorted((a, b) => a.order - b.order).map(({ text }) => text);
  expect(texts[0]).toBe("5");
  expect(texts.slice(1, 3)).toContain("4");
});
