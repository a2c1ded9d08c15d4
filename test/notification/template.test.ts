import { Readable } from "node:stream";
import postgres from "postgres";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { startBulk } from "#lib/notification/bulk.ts";
import { readBulk } from "#lib/notification/bulk-file.ts";
import { findBulkTemplate } from "#lib/notification/bulk-template.ts";
import type { BulkContext, NotifyContext } from "#lib/notification/context.ts";
import { runJob } from "#lib/notification/job-run.ts";
import { requestNotification } from "#lib/notification/request.ts";
import {
  addVersion,
  approveVersion,
  listVersions,
  retireVersion,
} from "#lib/notification/template-version.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { playAudience, scheduledNow, showRecipients } from "../steps/notifying.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let admin: postgres.Sql;
/** Of the function that runs jobs, and of the messenger with its console. */
let notify: postgres.Sql;
let messenger: postgres.Sql;
let handed: Draft[];

beforeEach(async () => {
  const database = await createDatabase();
  admin = database.connect("adminUrl");
  // a job reads its audience with one connection and writes with the other
  const connected = postgres(database.urlFor("notifyUrl"), { max: 2, fetch_types: false, prepare: false });
  onTestFinished(() => connected.end());
  notify = connected;
  messenger = database.connect("messengerUrl");
  handed = [];
});

const contextWith = (sql: postgres.Sql): NotifyContext & BulkContext => ({
  sql,
  submit: () => expect.fail("it is no file"),
  submitBatch: async (drafts) => {
    handed.push(...drafts);
    return drafts.map((_, index) => `3EB0${index}`);
  },
  plan: async (phones) => phones.map(() => 0),
  pepper: digestWith({ version: 1, pepper: "p".repeat(32) }),
  until: Number.POSITIVE_INFINITY,
  maxWaitMs: 0,
});

const editor = (name: string) => ({ id: name, name });
const add = (
  text: string,
  name = "reminder",
  kind: MessageClass | null = null,
  parameters: Record<string, string> | null = null,
) => addVersion(messenger, { name, text, class: kind, parameters }, editor("sari"));
const approve = (version: number, by = "budi", name = "reminder") =>
  approveVersion(messenger, name, version, editor(by));

let count = 0;
const phone = "628125550001";
const reminder = { name: "Siti", subject: "Pajak", details: "Bayar di loket" };
const sendOne = async (template = "reminder", values: object = reminder) => {
  count += 1;
  const request = { id: `request-${count}`, template, phone, values, requestedAt: new Date() };
  await requestNotification(contextWith(notify), request);
  return handed.at(-1)?.text;
};
const sendFile = async (name: string, csv: string) => {
  count += 1;
  const template = await findBulkTemplate(messenger, name);
  if (!template) return expect.fail("there is no such template");
  const { bulk } = await readBulk(Readable.from([Buffer.from(csv)]), {
    template,
    class: "bulk",
    name: `run-${count}`,
  });
  return (await startBulk(contextWith(messenger), bulk)).sent;
};
/** Sends the template in three ways. @returns the texts: of a single message, a job's and a bulk run's. */
const sendAll = async () => {
  handed = [];
  await sendOne();
  await runJob(contextWith(notify), { job: "appointment-reminder", scheduled_time: scheduledNow() });
  await sendFile("reminder", `phone,name,subject,details\n${phone},Siti,Pajak,Bayar di loket\n`);
  return handed.map(({ text }) => text);
};

test("a text that a second operator has approved is sent by requests, jobs and bulk runs, until it is retired", async () => {
  await playAudience(admin, "appointment_reminder");
  await showRecipients(admin, 1);
  await add("Halo {{name}}: {{subject}}.\n{{details}}");
  await add("Janji {{name}} di {{place}}", "appointment-reminder");
  const drafts = await sendAll();
  expect(drafts).toHaveLength(3);
  for (const text of drafts) expect(text).toMatch(/^Yth\. /);
  await admin`truncate notification.recipient`;
  await approve(1);
  await approve(1, "budi", "appointment-reminder");
  expect(await sendAll()).toEqual([
    "Halo Siti: Pajak.\nBayar di loket",
    "Janji Warga 0 di Loket 1",
    "Halo Siti: Pajak.\nBayar di loket",
  ]);
  await retireVersion(messenger, "reminder", 1);
  expect((await sendAll())[0]).toMatch(/^Yth\. Siti/);
});

test.each(["sari", "Sari"])(
  "an author who logs in as %s cannot approve a text, nor can the database",
  async (name) => {
    await add("Halo {{name}}");
    await expect(approve(1, name)).rejects.toThrow(`${name} wrote it: another operator must approve it`);
    await expect(
      admin`update notification.template set approver = ${name}, approved_at = now()`,
    ).rejects.toMatchObject({ code: "23514" });
    expect(await listVersions(messenger)).toMatchObject([
      { status: "draft", author: "sari", approver: null },
    ]);
  },
);

test("a draft that a later version has replaced is not approved, because the later one would be sent", async () => {
  for (const text of ["Satu {{name}}", "Dua {{name}}"]) await add(text);
  await approve(2);
  await expect(approve(1)).rejects.toThrow("reminder 2 is sent: retire it first");
  await retireVersion(messenger, "reminder", 2);
  await approve(1);
});

test("the latest approved version is sent, and the one before it after that is retired", async () => {
  for (const text of ["Satu {{name}}", "Dua {{name}}", "Tiga {{name}}"]) await add(text);
  for (const version of [1, 2]) await approve(version);
  expect(await sendOne()).toBe("Dua Siti");
  await retireVersion(messenger, "reminder", 2);
  expect(await sendOne()).toBe("Satu Siti");
  expect(await listVersions(messenger)).toMatchObject([
    { version: 3, status: "draft", approver: null, text: "Tiga {{name}}" },
    { version: 2, status: "retired", author: "sari", approver: "budi" },
    { version: 1, status: "approved" },
  ]);
});

test("a template that code does not have needs its class and values, and its file is checked by them", async () => {
  await add("{{name}}: {{date}}", "vaccination", "bulk", { name: "words:20", date: "day" });
  await approve(1, "budi", "vaccination");
  const run = await sendFile(
    "vaccination",
    `phone,name,date\n${phone},Siti,2030-01-02\n628125550002,Budi,besok\n`,
  );
  expect(run).toMatchObject({ accepted: 1, opted_out: 0, refused: 1 });
  expect(await admin`select line, reason from notification.recipient where outcome = 'refused'`).toEqual([
    { line: 3, reason: expect.stringContaining("date is invalid") },
  ]);
  expect(handed).toMatchObject([{ text: "Siti: Rabu, 2 Januari 2030", class: "bulk" }]);
});

test("a line of the text is left out if an optional value is missing", async () => {
  await add("{{document}}: {{status}}\nBerikutnya: {{next}}", "status-change");
  await approve(1, "budi", "status-change");
  const values = { name: "S", document: "KTP", number: "1", status: "Selesai" };
  expect(await sendOne("status-change", values)).toBe("KTP: Selesai");
});

test.each<[string, string, MessageClass | null, Record<string, string> | null, string]>([
  [
    "Halo {{nama}}",
    "reminder",
    null,
    null,
    "The text has {{nama}}, but the values are name, subject, details",
  ],
  ["Halo {{constructor}}", "reminder", null, null, "The text has {{constructor}}"],
  [
    "Halo {{ name }}",
    "reminder",
    null,
    null,
    "The text has braces without a value: write {{name}}, without spaces",
  ],
  ["Halo {{name}", "reminder", null, null, "The text has braces without a value"],
  [" \n\uFEFF", "reminder", null, null, "The text is empty or not UTF-8"],
  ["Halo \uFFFD", "reminder", null, null, "The text is empty or not UTF-8"],
  ["Halo", "news", "bulk", { phone: "words:20" }, "Invalid value: phone=words:20"],
  ["Halo", "reminder", "bulk", null, "reminder is a template in code"],
  ["Halo", "news", null, null, "news is not a template in code: give its class and its values"],
  ["Halo", "news", "bulk", { name: "text" }, "Invalid value: name=text. Use name=rule"],
])(
  "rejects the text %j of %s as %s with %j and says what to do",
  async (text, name, kind, values, message) => {
    await expect(add(text, name, kind, values)).rejects.toThrow(message);
  },
);

test("a version that does not exist is neither approved nor retired", async () => {
  await expect(approve(7)).rejects.toThrow("No draft reminder 7");
  await expect(retireVersion(messenger, "reminder", 7)).rejects.toThrow("No version reminder 7");
});
