import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { playAudience, scheduledNow, showRecipients } from "../../steps/notifying.ts";
import { notifyIn } from "./notify-command.ts";

const own = useOwnCity(() => ({ messenger: "fake" }));
const admin = withCityDatabase(own);

const notify = notifyIn(own);
const template = (...args: string[]) => notify("template", ...args);

const folder = mkdtempSync(join(tmpdir(), "template-"));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const addText = (text: string, name = "reminder", ...more: string[]) =>
  template("add", name, write("text.txt", text), "--by", "sari", ...more);
const approve = (version: number, by = "budi", name = "reminder") =>
  template("approve", name, String(version), "--by", by);

let sends = 0;
/** Sends the template in three ways. @returns the texts: of a single message, a job's and a bulk run's. */
const sendAll = async (): Promise<string[]> => {
  sends += 1;
  const values = { name: "Siti", subject: "Pajak", details: "Bayar di loket" };
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  await notify("send", "reminder", "628125550001", ...pairs);
  const scheduled = { job: "appointment-reminder", scheduled_time: scheduledNow() };
  await own.city.invoke("notify", scheduled);
  const file = write("people.csv", "phone,name,subject,details\n628125550003,Siti,Pajak,Bayar di loket\n");
  await notify("bulk", file, "--template", "reminder", "--name", `run-${sends}`);
  const rows = await admin(
    (sql) => sql<{ text: string }[]>`select content ->> 'text' as text from messaging.message order by seq`,
  );
  return rows.map(({ text }) => text);
};

beforeEach(() =>
  admin(async (sql) => {
    await sql`update messaging.control set paused = true`;
    await sql`truncate messaging.message, messaging.idempotency cascade`;
    await sql`truncate notification.run, notification.recipient, notification.request, notification.template`;
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 1);
  }),
);

test("a text that a second operator has approved is sent by commands, jobs and bulk runs, until it is retired", async () => {
  expect((await addText("Halo {{name}}: {{subject}}.\r\n{{details}}\n")).out).toContain("Draft reminder 1.");
  await addText("Janji {{name}} di {{place}}", "appointment-reminder");
  const drafts = await sendAll();
  expect(drafts).toHaveLength(3);
  for (const text of drafts) expect(text).toMatch(/^Yth\. /);
  await admin(
    (sql) => sql`truncate messaging.message, messaging.idempotency, notification.recipient cascade`,
  );
  expect((await approve(1)).out).toBe("reminder 1 is sent from now on.\n");
  await approve(1, "budi", "appointment-reminder");
  expect(await sendAll()).toEqual([
    "Halo Siti: Pajak.\nBayar di loket",
    "Janji Warga 0 di Loket 1",
    "Halo Siti: Pajak.\nBayar di loket",
  ]);
  await template("retire", "reminder", "1");
  await admin((sql) => sql`truncate messaging.message, messaging.idempotency cascade`);
  expect((await sendAll())[0]).toMatch(/^Yth\. Siti/);
});

test("its author cannot approve a text, neither by the command nor in the database", async () => {
  await addText("Halo {{name}}");
  expect(await approve(1, "sari")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("sari wrote it: another operator must approve it"),
  });
  await expect(
    admin((sql) => sql`update notification.template set approver = 'sari', approved_at = now()`),
  ).rejects.toMatchObject({ code: "23514" });
  expect((await template("list")).out).toMatch(/reminder +1 +draft +sari +-/);
});

test.each(["Sari", " sari "])("an author who approves as %j is still the author", async (name) => {
  await addText("Halo {{name}}");
  expect(await approve(1, name)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("another operator must approve it"),
  });
});

test("a draft that a later version has replaced is not approved, because the later one would be sent", async () => {
  for (const text of ["Satu {{name}}", "Dua {{name}}"]) await addText(text);
  await approve(2);
  expect(await approve(1)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("reminder 2 is sent: retire it first"),
  });
  await template("retire", "reminder", "2");
  expect(await approve(1)).toMatchObject({ status: 0 });
});

test.each(["", " ", "a\nb", "x".repeat(101)])("the operator %j is rejected", async (name) => {
  expect(await approve(1, name)).toMatchObject({
    status: 2,
    errors: expect.stringContaining("--by must be the name of an operator"),
  });
});

test("the latest approved version is sent, and the one before it after that is retired", async () => {
  for (const text of ["Satu {{name}}", "Dua {{name}}", "Tiga {{name}}"]) await addText(text);
  for (const version of [1, 2]) await approve(version);
  const sendOne = async () => {
    await notify("send", "reminder", "628125550001", "name=S", "subject=P", "details=D");
    const rows = await admin(
      (sql) => sql<{ text: string }[]>`
        select content ->> 'text' as text from messaging.message order by seq desc limit 1`,
    );
    return rows[0]?.text;
  };
  expect(await sendOne()).toBe("Dua S");
  await template("retire", "reminder", "2");
  expect(await sendOne()).toBe("Satu S");
  const { out } = await template("list", "reminder");
  expect(out).toMatch(
    /^reminder 3 {2}draft {2}by sari\n {4}Tiga \{\{name\}\}\nreminder 2 {2}retired {2}by sari, approved by budi\n/,
  );
});

test("a template that code does not have needs its class and values, and its file is checked by them", async () => {
  const values = ["--class", "bulk", "--value", "name=words:20", "--value", "date=day"];
  await addText("{{name}}: {{date}}", "vaccination", ...values);
  await approve(1, "budi", "vaccination");
  const file = write(
    "people.csv",
    "phone,name,date\n628125550001,Siti,2030-01-02\n628125550002,Budi,besok\n",
  );
  const { out } = await notify("bulk", file, "--template", "vaccination");
  expect(out).toContain("1 accepted, 0 opted out, 1 rejected");
  expect(out).toContain("line 3  rejected: date is invalid");
  const rows = await admin((sql) => sql`select content ->> 'text' as text, priority from messaging.message`);
  expect(rows).toEqual([{ text: "Siti: Rabu, 2 Januari 2030", priority: 3 }]);
});

test("a line of the text is left out if an optional value is missing", async () => {
  await addText("{{document}}: {{status}}\nBerikutnya: {{next}}", "status-change");
  await approve(1, "budi", "status-change");
  await notify(
    "send",
    "status-change",
    "628125550001",
    "name=S",
    "document=KTP",
    "number=1",
    "status=Selesai",
  );
  const rows = await admin((sql) => sql`select content ->> 'text' as text from messaging.message`);
  expect(rows).toEqual([{ text: "KTP: Selesai" }]);
});

test.each([
  ["Halo {{nama}}", "reminder", [], "The text has {{nama}}, but the values are name, subject, details"],
  ["Halo {{constructor}}", "reminder", [], "The text has {{constructor}}"],
  ["Halo {{ name }}", "reminder", [], "The text has braces without a value: write {{name}}, without spaces"],
  ["Halo {{name}", "reminder", [], "The text has braces without a value"],
  [" \n\uFEFF", "reminder", [], "The text is empty or not UTF-8"],
  ["Halo \uFFFD", "reminder", [], "The text is empty or not UTF-8"],
  ["Halo", "news", ["--class", "bulk", "--value", "phone=words:20"], "Invalid value: phone=words:20"],
  ["Halo", "reminder", ["--class", "bulk"], "reminder is a template in code"],
  ["Halo", "news", [], "news is not a template in code: give its class and its values"],
  ["Halo", "news", ["--class", "bulk", "--value", "name=text"], "Invalid value: name=text. Use name=rule"],
])("rejects the text %j of %s with %j and says what to do", async (text, name, more, message) => {
  expect(await addText(text, name, ...more)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(message),
  });
});

test.each([
  ["approve", "reminder", "7", "--by", "budi"],
  ["retire", "reminder", "7"],
])("%s of a version that does not exist says so", async (...args) => {
  expect(await template(...args)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("reminder 7"),
  });
});
