import { Readable } from "node:stream";
import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { previewBulk, startBulk } from "#lib/notification/bulk.ts";
import { type Bulk, readBulk } from "#lib/notification/bulk-file.ts";
import type { BulkContext } from "#lib/notification/context.ts";
import { getTemplate } from "#lib/notification/templates.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let admin: postgres.Sql;
let sql: postgres.Sql;
let handed: Draft[];

beforeEach(async () => {
  const database = await createDatabase();
  admin = database.connect("adminUrl");
  sql = database.connect("messengerUrl");
  handed = [];
});

/** Hands over to a messenger that accepts everything and plans as the test says. */
const contextWith = (more: Partial<BulkContext> = {}): BulkContext => ({
  sql,
  submitBatch: async (drafts) => {
    handed.push(...drafts);
    return drafts.map((_, index) => `3EB0${index}`);
  },
  plan: async (phones) => phones.map(() => 0),
  pepper: digestWith({ version: 1, pepper: "p".repeat(32) }),
  until: Number.POSITIVE_INFINITY,
  maxWaitMs: 0,
  ...more,
});

const bulkOf = (count: number): Bulk => ({
  name: "march",
  file: "0123456789ab",
  template: { name: "reminder", ...getTemplate("reminder"), class: "bulk" },
  lines: Array.from({ length: count }, (_, row) => ({
    line: row + 2,
    phone: `62811${1_000_000 + row}`,
    values: { name: "Warga", subject: "Pajak", details: "Bayar" },
  })),
});

const sendBulk = async (context: BulkContext, bulk: Bulk) => (await startBulk(context, bulk)).sent;

test("each message is scheduled for the day on which the budgets allow it, and expires three days later", async () => {
  const now = Date.now();
  const context = contextWith({ plan: async () => [0, 2, 29] });
  expect((await previewBulk(context, bulkOf(3))).days).toBe(30);
  await sendBulk(context, bulkOf(3));
  const [today, ...later] = handed;
  expect(today?.send_at).toBeUndefined();
  for (const [index, day] of [2, 29].entries()) {
    const aheadMs = Date.parse(later[index]?.send_at ?? "") - now;
    expect(aheadMs / 86_400_000).toBeCloseTo(day, 2);
  }
  expect(handed.map(({ expires_in_seconds }) => expires_in_seconds)).toEqual([259_200, 259_200, 259_200]);
  const [row] = await admin`
    select round(extract(epoch from max(seen_at) - now()) / 86400) = 29 as "isKept" from notification.recipient`;
  expect(row?.isKept).toBe(true);
});

test("a file that takes longer than messages can be scheduled is rejected as a whole, and says how many fit", async () => {
  const sending = sendBulk(contextWith({ plan: async () => [0, 30, 366] }), bulkOf(3));
  await expect(sending).rejects.toThrow("it takes more than 30 days; send at most 1 recipients now");
  expect(handed).toEqual([]);
  expect(await admin`select state, reason from notification.run`).toMatchObject([{ state: "failed" }]);
});

test("a run that is cancelled while it hands over stops after the batch", async () => {
  const context = contextWith();
  const sending = sendBulk(
    {
      ...context,
      submitBatch: async (drafts) => {
        await admin`select notification.cancel_bulk('march')`;
        return context.submitBatch(drafts);
      },
    },
    bulkOf(450),
  );
  await expect(sending).rejects.toThrow("it was cancelled");
  expect(handed).toHaveLength(200);
  expect(await admin`select state, accepted from notification.run`).toEqual([
    { state: "cancelled", accepted: 200 },
  ]);
});

test("a message without a text is rejected, and the others of its batch are sent", async () => {
  const bulk = bulkOf(3);
  const text = ({ details }: { details: string }) => (details === "-" ? "" : details);
  const lines = bulk.lines.map((line, row) => ({
    ...line,
    values: { ...line.values, ...(row === 1 && { details: "-" }) },
  }));
  const template = { ...bulk.template, text: text as unknown as (typeof bulk.template)["text"] };
  const run = await sendBulk(contextWith(), { ...bulk, template, lines });
  expect(run).toMatchObject({ accepted: 2, refused: 1 });
  expect(await admin`select line, reason from notification.recipient where outcome = 'refused'`).toEqual([
    { line: 3, reason: "the text is empty" },
  ]);
});

test("the number of a recipient does not stand in the database, and its key differs between runs", async () => {
  await sendBulk(contextWith(), bulkOf(1));
  await sendBulk(contextWith(), { ...bulkOf(1), name: "april" });
  const rows = await admin<{ key: string; all: string }[]>`
    select dedupe_key as key, to_jsonb(r)::text as all from notification.recipient r`;
  expect(rows.map(({ all }) => all).join()).not.toContain(`${1_000_000}`);
  expect(new Set(rows.map(({ key }) => key)).size).toBe(2);
});

test("of a file with more lines than can be planned no more than these are read", async () => {
  let blocks = 0;
  const write = function* () {
    yield Buffer.from("phone,name,subject,details\n");
    for (; blocks < 1_000; blocks++) yield Buffer.from("6281200000001,Warga,Pajak,Bayar\n".repeat(1_000));
  };
  const { template } = bulkOf(0);
  await expect(readBulk(Readable.from(write()), { template, class: "bulk" })).rejects.toThrow(
    "the file has more than 20000 recipients; split it",
  );
  expect(blocks).toBeLessThan(200);
});

const readFile = async (...lines: string[]) => {
  const { template } = bulkOf(0);
  const text = ["phone;name;subject;details;country", ...lines].join("\n");
  return (await readBulk(Readable.from([Buffer.from(text)]), { template, class: "bulk" })).bulk;
};

test("a file reaches whom it means: other numbers have the cause as their reason, and nothing is sent to them", async () => {
  const bulk = await readFile(
    "81200000001;Siti;Pajak;Bayar;",
    "081200000001.0;Dua;Pajak;Bayar;",
    "6281200000002,0;Koma;Pajak;Bayar;",
    "+62 (0)812-0000-002;Kurung;Pajak;Bayar;62",
    "81312345678;Jepang;Pajak;Bayar;",
    "08120000104/5;Dua;Pajak;Bayar;",
    "6,2812E+12;Ilmiah;Pajak;Bayar;",
    "+65 9123 4567;Singapura;Pajak;Bayar;",
    "+65 9123 4568;Singapura;Pajak;Bayar;+65",
    "81312345678;Jepang;Pajak;Bayar;81",
    "81312345678;Bandung;Pajak;Bayar;62",
  );
  const { countries, rejected } = await previewBulk(contextWith(), bulk);
  expect(rejected.map(({ line, outcome, reason }) => [line, outcome, reason])).toEqual([
    [3, "duplicate", "the number is on line 2"],
    [
      6,
      "invalid number",
      expect.stringContaining("Japan (81), or one from which Excel removed the leading 0"),
    ],
    [7, "invalid number", expect.stringContaining("two numbers in one cell")],
    [8, "invalid number", expect.stringContaining("the last digits are lost")],
    [
      9,
      "invalid number",
      expect.stringContaining("Singapore (65); to send to it, write 65 in the column country"),
    ],
  ]);
  expect(countries).toEqual([
    { country: "62", region: "ID", count: 4 },
    { country: "65", region: "SG", count: 1 },
    { country: "81", region: "JP", count: 1 },
  ]);
  await sendBulk(contextWith(), bulk);
  expect(handed.map(({ phone }) => phone)).toEqual([
    ...["6281200000001", "6281200000002", "628120000002"],
    ...["6591234568", "81312345678", "6281312345678"],
  ]);
});

test("blank cells that a spreadsheet adds or leaves out, and its line sep=;, change nothing; lines count as it shows them", async () => {
  const { template } = bulkOf(0);
  const rows = [
    "phone;name;subject;details",
    "",
    "081200000001;A;B;C;;",
    ";;;",
    "081200000002;A;B",
    "0812;A;B;C",
  ];
  const file = Readable.from([Buffer.from(["sep=;", ...rows].join("\r\n"))]);
  const { rejected, counts } = await previewBulk(
    contextWith(),
    (await readBulk(file, { template, class: "bulk" })).bulk,
  );
  expect(counts["would be sent"]).toBe(1);
  expect(rejected).toMatchObject([
    { line: 5, outcome: "invalid values", reason: expect.stringContaining("details") },
    { line: 6, outcome: "invalid number" },
  ]);
});

test("a title above the header and unknown headers are named, with what to do", async () => {
  const { template } = bulkOf(0);
  const read = (text: string) => readBulk(Readable.from([Buffer.from(text)]), { template, class: "bulk" });
  await expect(read("DATA WARGA;;;\nphone;name;subject;details\n")).rejects.toThrow(
    'Line 1 is not the header: "DATA WARGA". The header is in line 2: delete the lines above it.',
  );
  await expect(read("nomor antre;nama;subject;details\n")).rejects.toThrow(
    "these are missing: phone. Found: nomor antre, nama, subject, details.",
  );
});

test.each(["No HP;Nama", "No. HP;NAMA", "nomor_telepon;Nama Lengkap", "WhatsApp;name", "No-WA;nama"])(
  "the columns %s of an export are those of the number and the name",
  async (headers) => {
    const { template } = bulkOf(0);
    const text = `${headers};subject;details\n081200000001;Siti;Pajak;Bayar\n`;
    const { bulk, ignored } = await readBulk(Readable.from([Buffer.from(text)]), { template, class: "bulk" });
    expect(bulk.lines).toMatchObject([{ phone: "6281200000001", values: { name: "Siti" } }]);
    expect(ignored).toEqual([]);
  },
);

test("a column with the template's own name counts, and another name beside it is ignored", async () => {
  const { template } = bulkOf(0);
  const text = "No HP;phone;name;subject;details\n081200000009;081200000001;Siti;Pajak;Bayar\n";
  const { bulk, ignored } = await readBulk(Readable.from([Buffer.from(text)]), { template, class: "bulk" });
  expect(bulk.lines[0]?.phone).toBe("6281200000001");
  expect(ignored).toEqual(["No HP"]);
});

test("of a wrong number the first digits are shown, and nothing of what may be an identity number or a name", async () => {
  const bulk = await readFile("0812-55;A;B;C;", "3273010101900001;A;B;C;", "Siti Aminah;A;B;C;");
  const { rejected } = await previewBulk(contextWith(), bulk);
  expect(rejected.map(({ phone }) => phone)).toEqual(["0812••", "•••••••••••••••", "•••••••••••"]);
});
