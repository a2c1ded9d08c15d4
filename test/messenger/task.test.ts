import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Accepted, MessageState } from "#lib/messaging/submission.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { noPace, type Pace } from "#lib/messenger/send/pacing.ts";
import { startTask, type Task } from "#lib/messenger/task.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type Platform, startPlatform } from "../../infra/local/whatsapp/platform.ts";
import { createMessengerDatabase } from "./messenger-database.ts";

vi.stubEnv("LOG_LEVEL", "error");

const phone = "6281200000001";
const token = randomBytes(24).toString("base64url");
const encryption = encryptionWith(secretTable["messenger-key"].mint());
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let platform: Platform;
let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
let sql: postgres.Sql;

const start = async (pace: Pace = noPace): Promise<Task> => {
  const task = await startTask({
    connect: async (max, onClose) => database.open(max, onClose),
    encryption,
    platform: {
      url: platform.url,
      rootKey: platform.rootKey,
      mediaCa: platform.mediaCa,
      reconnection: { minMs: 20, maxMs: 200, stableMs: 60_000 },
      answerTimeoutMs: 3_000,
    },
    pace,
    maxWaiting: 10_000,
    findTokens: async () => [token],
    findCredentials: async () => [],
    host: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => task.stop());
  return task;
};

const ask = async (task: Task, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(`${task.url}${path}`, { ...init, headers });
  return { status: response.status, json: (await response.json()) as never };
};
const json = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const to = { sender: "api:test", phone };
const text = { ...to, kind: "text", text: "hello" };
const submit = async (task: Task, submission: Record<string, unknown>): Promise<Accepted> => {
  const answer = await ask(task, "/messages", json({ ...text, ...submission }));
  expect(answer.status).toBe(201);
  return answer.json;
};
const upload = (task: Task, submission: Record<string, unknown>, bytes: Buffer) =>
  ask(task, "/messages", {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "x-submission": Buffer.from(JSON.stringify({ ...to, ...submission })).toString("base64url"),
    },
    body: new Uint8Array(bytes),
  });
const stateOf = async (task: Task, id: string): Promise<MessageState> =>
  (await ask(task, `/messages/${id}`)).json;
const eventually = (task: Task, id: string, status: string) =>
  expect.poll(async () => (await stateOf(task, id)).status, { timeout: 15_000 }).toBe(status);

const untilOpen = async (task: Task) => {
  await expect.poll(() => task.findWhatsApp()?.state().kind, { timeout: 15_000 }).toMatch(/pairing|open/);
  const state = task.findWhatsApp()?.state();
  if (state?.kind === "pairing") await platform.scan(state.qr);
  await expect.poll(() => task.findWhatsApp()?.state().kind, { timeout: 15_000 }).toBe("open");
};
const startOpen = async () => {
  const task = await start();
  await untilOpen(task);
  return task;
};

/** Lists the tables that contain a text, also as bytes. */
const findTables = async (text: string): Promise<string[]> => {
  const tables = await database.admin<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const hex = Buffer.from(text).toString("hex");
  const found = tables.map(async ({ name }) => {
    const pattern = `%(${text}|${hex})%`;
    const rows = await database.admin.unsafe(`select from ${name} t where t::text similar to $1 limit 1`, [
      pattern,
    ]);
    return rows.length > 0 ? [name] : [];
  });
  return (await Promise.all(found)).flat();
};

beforeEach(async () => {
  database = await createMessengerDatabase();
  sql = database.connect(1);
  platform = await startPlatform({ phones: [phone] });
  platform.behave({ receipts: ["delivered", "read"] });
  onTestFinished(() => platform.stop());
});

test("a task that is stopped lets the next one lead, and accepts messages until clients stop resolving it", async () => {
  const [first, second] = [await startOpen(), await start()];
  const unresolved = Promise.withResolvers<void>();
  const stopped = first.stop(unresolved.promise);
  await untilOpen(second);
  const { id } = await submit(first, {});
  await eventually(second, id, "READ");
  unresolved.resolve();
  await stopped;
  await expect(fetch(`${first.url}/health`)).rejects.toThrow();
});

describe("a message", () => {
  test("reaches the phone unchanged under its id, and its receipts set its state", async () => {
    const task = await startOpen();
    platform.behave({ receipts: ["delivered"] });
    const text = "*b* _i_ ~s~ ```m``` é 🔑\n\ttab";
    const { id, status } = await submit(task, { text });
    expect(status).toBe("PENDING");
    await eventually(task, id, "DELIVERED");
    platform.sendReceipts(id, ["read"]);
    await eventually(task, id, "READ");
    expect(platform.phone(phone).inbox.map((received) => [received.id, received.text])).toEqual([[id, text]]);
  });

  test("with a one-time code stands nowhere in clear, and after its delivery nowhere at all", async () => {
    const [code, other] = ["Kode Anda 774411", "Antrean nomor 12"];
    const task = await start();
    await submit(task, { text: other, phone: "6281200000009" });
    const { id } = await submit(task, { text: code, class: "otp", idempotency_key: "code" });
    expect([await findTables(code), await findTables(other)]).toEqual([[], ["messaging.message"]]);
    await untilOpen(task);
    await eventually(task, id, "READ");
    expect(platform.phone(phone).inbox.map(({ text }) => text)).toEqual([code]);
    expect(await findTables(code)).toEqual([]);
    const [row] = await sql`
      select content, (select count(*)::int from messaging.payload p where p.seq = m.seq) as payloads
      from messaging.message m where id = ${id}`;
    expect(row).toEqual({ content: { view_once: false, is_forwarded: false }, payloads: 0 });
  });

  test("that was accepted before pairing is sent afterwards", async () => {
    const task = await start();
    const { id } = await submit(task, {});
    await untilOpen(task);
    await eventually(task, id, "READ");
  });

  test("with an image is displayed with all options", async () => {
    const task = await startOpen();
    const first = await submit(task, { text: "first" });
    const options = { view_once: true, is_forwarded: true, duration_seconds: 86_400, reply_to: first.id };
    const { json: accepted } = await upload(task, { kind: "image", text: "caption", ...options }, png);
    const { id } = accepted as Accepted;
    await eventually(task, id, "READ");
    const received = platform.phone(phone).find(id);
    expect(received?.media?.bytes.equals(png)).toBe(true);
    const shown = JSON.stringify(received?.message);
    for (const part of ['"caption":"caption"', '"viewOnce', '"isForwarded":true', first.id, "86400"])
      expect(shown).toContain(part);
  });

  test("shows a quoted message only to the number that it was sent to", async () => {
    const task = await startOpen();
    const first = await submit(task, { text: "for one citizen" });
    await eventually(task, first.id, "READ");
    const other = "6281200000077";
    platform.register(other);
    const { id } = await submit(task, { phone: other, text: "reply", reply_to: first.id });
    await eventually(task, id, "READ");
    expect(JSON.stringify(platform.phone(other).find(id)?.message)).not.toContain("for one citizen");
  });

  test("with a file of 4 MiB arrives unchanged, with its name", async () => {
    const task = await startOpen();
    const bytes = randomBytes(4 * 1024 * 1024);
    const answer = await upload(
      task,
      { kind: "file", file_name: "Laporan é.pdf", content_type: "application/pdf" },
      bytes,
    );
    const { id } = answer.json as Accepted;
    await eventually(task, id, "READ");
    const received = platform.phone(phone).find(id);
    expect(received?.media?.bytes.equals(bytes)).toBe(true);
    expect([received?.media?.fileName, received?.media?.mimetype]).toEqual([
      "Laporan é.pdf",
      "application/pdf",
    ]);
  });

  test.each([
    ["an invalid image", "image", Buffer.from("GIF89a")],
    ["an empty image", "image", Buffer.alloc(0)],
  ])("with %s is rejected, and nothing is stored", async (_, kind, bytes) => {
    const task = await start();
    expect((await upload(task, { kind }, bytes)).status).toBe(400);
    expect((await sql`select 1 from messaging.message`).length).toBe(0);
  });

  test.each([
    ["a number as text", { text: 5 }],
    ["a phone with a plus", { phone: "+6281200000001" }],
    ["an unknown kind", { kind: "video" }],
    ["no text", { text: "" }],
  ])("with %s is 400", async (_, change) => {
    const task = await start();
    const { status } = await ask(task, "/messages", json({ ...text, ...change }));
    expect(status).toBe(400);
  });

  test("to an unknown number fails with a reason", async () => {
    const task = await startOpen();
    const { id } = await submit(task, { phone: "6281299999999" });
    await eventually(task, id, "FAILED");
    expect((await stateOf(task, id)).reason).toContain("not registered");
  });
});

test.each([
  ["no token", {}],
  ["a wrong token", { authorization: "Bearer wrong" }],
])("answers 401 to %s", async (_, headers) => {
  const task = await start();
  const response = await fetch(`${task.url}/messages/x`, { headers: headers as Record<string, string> });
  expect(response.status).toBe(401);
});

describe("when the platform", () => {
  test("drops the connection before its answer, the message is sent again under the same id", async () => {
    const task = await startOpen();
    // a receipt would count as an answer
    platform.behave({ dropBeforeAck: 1, receipts: [] });
    const { id } = await submit(task, {});
    await eventually(task, id, "SENT");
    expect([platform.phone(phone).inbox.length, platform.arrivalsOf(id)]).toEqual([1, 2]);
  });

  test("is down for a while, all messages accepted meanwhile arrive in order", async () => {
    const task = await startOpen();
    await eventually(task, (await submit(task, { text: "0" })).id, "READ");
    platform.leave();
    const ids: string[] = [];
    for (let i = 1; i <= 20; i++) ids.push((await submit(task, { text: String(i) })).id);
    platform.comeBack();
    await eventually(task, ids.at(-1) ?? "", "READ");
    expect(platform.phone(phone).inbox.map(({ text }) => Number(text))).toEqual(
      Array.from({ length: 21 }, (_, i) => i),
    );
  });

  test("has accepted messages from an earlier task in this hour, they count for this one", async () => {
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, state, expires_at, sent_at)
      values ('EARLIER', 'api:test', 'text', ${phone}, '{}', 'READ', now(), now())`;
    const task = await start({ ...noPace, perHour: 2 });
    const [first, second] = [await submit(task, {}), await submit(task, {})];
    await untilOpen(task);
    await eventually(task, first.id, "READ");
    expect((await stateOf(task, second.id)).status).toBe("PENDING");
  });

  test("rejects a message, it has failed with the platform's code", async () => {
    const task = await startOpen();
    platform.behave({ nack: { code: 479, messages: 1 } });
    const { id } = await submit(task, {});
    await eventually(task, id, "FAILED");
    expect((await stateOf(task, id)).reason).toContain("479");
  });

  test("removes the link, pairing starts again and nothing is lost", async () => {
    const task = await startOpen();
    platform.disconnect(401);
    await expect.poll(() => task.findWhatsApp()?.state().kind, { timeout: 15_000 }).toBe("pairing");
    const { id } = await submit(task, {});
    await untilOpen(task);
    await eventually(task, id, "READ");
  });
});

describe("two tasks", () => {
  test("share one WhatsApp connection, and both accept messages", async () => {
    const first = await startOpen();
    const second = await start();
    const ids = [(await submit(first, {})).id, (await submit(second, {})).id];
    for (const id of ids) await eventually(second, id, "READ");
    expect([first, second].filter((task) => task.findWhatsApp()).length).toBe(1);
    expect(platform.sockets.mostLoggedIn).toBe(1);
  });

  test("hand over when the leader is stopped, and phones can decrypt the next message", async () => {
    const first = await startOpen();
    await eventually(first, (await submit(first, {})).id, "READ");
    const second = await start();
    await first.stop();
    const { id } = await submit(second, { text: "after" });
    await eventually(second, id, "READ");
    expect(platform.phone(phone).failures).toEqual([]);
    expect(platform.sockets.mostLoggedIn).toBe(1);
  });

  test("continue when the leader's database connections are terminated", { timeout: 60_000 }, async () => {
    const task = await startOpen();
    for (let i = 0; i < 3; i++) {
      const { id } = await submit(task, { text: String(i) });
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid() and datname = current_database()`;
      await eventually(task, id, "READ");
    }
    expect(platform.phone(phone).inbox.map(({ text }) => text)).toEqual(["0", "1", "2"]);
    expect(platform.sockets.mostLoggedIn).toBe(1);
  });
});

test("serves health and metrics without phone numbers and texts", async () => {
  const task = await startOpen();
  const { id } = await submit(task, { text: "PLANTED" });
  await eventually(task, id, "READ");
  const health = (await (await fetch(`${task.url}/health`)).json()) as unknown;
  expect(health).toEqual({ process: true, database: true, leader: true, platform: "open", paused: false });
  const metrics = await (await fetch(`${task.url}/metrics`)).text();
  expect(metrics).toContain('messenger_sends_total{outcome="sent"} 1');
  expect(metrics).toContain('messenger_messages{state="PENDING"} 0');
  expect(metrics).not.toMatch(new RegExp(`PLANTED|${phone}|${id}`));
});

test("stops while messages are queued, without losing them", async () => {
  const task = await start();
  const { id } = await submit(task, {});
  await task.stop();
  const [row] = await sql`select state from messaging.message where id = ${id}`;
  expect(row?.state).toBe("PENDING");
});
