import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { Accepted } from "#lib/messaging/submission.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { picture } from "../channels/pictures.ts";
import {
  ask,
  database,
  eventually,
  json,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  stateOf,
  submit,
  text,
  untilOpen,
  upload,
} from "../fleet/running-task.ts";
import { serve } from "../steps/http-server.ts";
import { loopback } from "../steps/loopback.ts";
import { pngHeader, pngSignature } from "../steps/png.ts";

stageEachTest();

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

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
    const { id } = await submit(task, { text: code, class: "one-time-code", idempotency_key: "code" });
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

  test("with an image is accepted before it is compressed, and arrives as a small JPG", async () => {
    const task = await start();
    const large = await picture(2_000, 300).png({ compressionLevel: 0 }).toBuffer();
    const { json: accepted } = await upload(task, { kind: "image", compress: true }, large);
    const { id } = accepted as Accepted;
    expect(await sql`select size_bytes::int as bytes from messaging.media`).toEqual([
      { bytes: large.length },
    ]);
    await untilOpen(task);
    await eventually(task, id, "READ");
    const media = platform.phone(phone).find(id)?.media;
    const { format, width, height } = await sharp(media?.bytes).metadata();
    expect([media?.mimetype, format, width, height]).toEqual(["image/jpeg", "jpeg", 1_600, 240]);
  });

  test("with the URL of a WebP image arrives with a JPG", async () => {
    const webp = await picture(400, 200).webp().toBuffer();
    const url = await serve((_request, response) => void response.end(webp));
    const task = await start(noPace, {}, { connector: loopback });
    await untilOpen(task);
    const { id } = await submit(task, { kind: "image", text: undefined, url });
    await eventually(task, id, "READ");
    const media = platform.phone(phone).find(id)?.media;
    expect([media?.mimetype, (await sharp(media?.bytes).metadata()).format]).toEqual(["image/jpeg", "jpeg"]);
  });

  test("with an image that cannot be compressed arrives with its own bytes", async () => {
    const task = await startOpen();
    const empty = Buffer.concat([pngSignature, pngHeader(50, 50)]);
    const { json: accepted } = await upload(task, { kind: "image", compress: true }, empty);
    const { id } = accepted as Accepted;
    await eventually(task, id, "READ");
    const media = platform.phone(phone).find(id)?.media;
    expect([media?.mimetype, media?.bytes.equals(empty)]).toEqual(["image/png", true]);
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

describe("two tasks", () => {
  test("share one WhatsApp connection, and both accept messages", async () => {
    const first = await startOpen();
    const second = await start();
    const ids = [(await submit(first, {})).id, (await submit(second, {})).id];
    for (const id of ids) await eventually(second, id, "READ");
    expect([first, second].filter((task) => task.findLeadership()?.whatsApp).length).toBe(1);
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

  test("continue when the leader's database connections are terminated", { timeout: 120_000 }, async () => {
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

test("serves its health", async () => {
  const task = await startOpen();
  const health = (await (await fetch(`${task.url}/health`)).json()) as unknown;
  expect(health).toEqual({ process: true, database: true, leader: true, platform: "open", paused: false });
});

test("stops while messages are queued, without losing them", async () => {
  const task = await start();
  const { id } = await submit(task, {});
  await task.stop();
  const [row] = await sql`select state from messaging.message where id = ${id}`;
  expect(row?.state).toBe("PENDING");
});
