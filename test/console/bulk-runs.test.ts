import { beforeEach, expect, test } from "vitest";
import { database, platform, stageEachTest, start, untilOpen } from "../fleet/running-task.ts";
import { type BulkFields, fileOf, openBulkConsole, phoneOf } from "../steps/bulk-console.ts";
import { operator, userOf } from "../steps/console.ts";
import { deleteOld } from "../steps/retention.ts";

stageEachTest();

const user = await userOf(operator);
const openConsole = async () => {
  const task = await start(undefined, {}, { findUsers: async () => [user] });
  return { ...(await openBulkConsole(task.url, operator)), task };
};
let console: Awaited<ReturnType<typeof openConsole>>;

beforeEach(async () => {
  await database.admin`update messaging.control set paused = true`;
  console = await openConsole();
});

const fields: BulkFields = { template: "reminder", run: "tax" };

const findRun = async (name: string) =>
  (
    await database.admin<{ state: string; counts: string }[]>`
      select state, format('%s accepted, %s opted out, %s rejected', accepted, opted_out, refused) as counts
      from notification.run where job = ${`bulk:${name}`}`
  )[0];
const untilEnded = (name = "tax") =>
  expect.poll(async () => (await findRun(name))?.state, { timeout: 30_000 }).toMatch(/done|failed/);
/** Sends a file as previewed. @returns how many recipients had which outcome, once the run has ended. */
const send = async (csv: string, wanted: BulkFields = fields) => {
  await console.start(csv, wanted);
  await untilEnded(wanted.run);
  return (await findRun(wanted.run ?? ""))?.counts;
};
const sent = () => database.admin<{ phone: string; state: string; priority: number; text: string }[]>`
  select phone, state, priority, content ->> 'text' as text from messaging.message order by seq`;
const phones = async () => (await sent()).map(({ phone }) => phone);
const optOut = (phone: string) =>
  console.post("../opt-out", new URLSearchParams({ phone, confirmed: "yes" }));
const cancel = (run: string) => console.post("../cancel-run", new URLSearchParams({ run, confirmed: "yes" }));

test("each line is sent once, in the class bulk, also when the file is repeated in another format", async () => {
  const { text } = await console.preview(fileOf(2), { template: "reminder" });
  const run = /Run (reminder-\w+) /.exec(text)?.[1] ?? "";
  await console.start(fileOf(2), { template: "reminder" });
  await untilEnded(run);
  const first = await sent();
  expect(first).toMatchObject([
    { phone: phoneOf(0), priority: 3, text: expect.stringContaining("Yth. Warga 0,\n\n*Pajak*\nBayar") },
    { phone: phoneOf(1), priority: 3 },
  ]);
  const other = [
    "\uFEFFName;details;SUBJECT;phone;note",
    "Warga 0;Bayar di loket;Pajak;+62 811-1000-000;x",
    '"Warga 1";Bayar di loket;Pajak;08111000001;x',
  ].join("\n");
  const again = await console.preview(other, { template: "reminder" });
  expect(again.text).toContain(`Run ${run} `);
  expect(again.text).toContain("will be sent 0 sent before 2");
  expect(again.text).toContain("Columns that the template does not have: note.");
  expect(await send(other, { template: "reminder", run })).toBe("2 accepted, 0 opted out, 0 rejected");
  expect(await sent()).toEqual(first);
});

test("lines that cannot be sent are reported, and only those are sent when they are corrected", async () => {
  expect(await send(fileOf(2, "0812-55,X,P,D", '628125550002,"X,P,D'))).toBe(
    "2 accepted, 0 opted out, 2 rejected",
  );
  const report = await console.report("tax");
  expect(report).toMatch(/^4,\w+,0812••,rejected,"?phone must be/m);
  expect(report).toMatch(/^5,\w+,,rejected,the /m);
  expect(await send(fileOf(2, "628125550001,X,P,D", "628125550002,X,P,D"))).toBe(
    "4 accepted, 0 opted out, 0 rejected",
  );
  expect(await phones()).toEqual([phoneOf(0), phoneOf(1), "628125550001", "628125550002"]);
});

test("the same file is sent anew under a new name", async () => {
  for (const run of ["march", "april", "april"]) await send(fileOf(1), { template: "reminder", run });
  expect(await phones()).toEqual([phoneOf(0), phoneOf(0)]);
});

test("who has opted out is left out, except in the class transactional", async () => {
  await optOut(phoneOf(0));
  expect(await send(fileOf(2))).toBe("1 accepted, 1 opted out, 0 rejected");
  expect(await phones()).toEqual([phoneOf(1)]);
  await send(fileOf(2), { template: "reminder", run: "flood", class: "transactional" });
  expect((await sent()).slice(1)).toMatchObject([
    { phone: phoneOf(0), priority: 1 },
    { phone: phoneOf(1), priority: 1 },
  ]);
});

test("a text that has changed is sent to those who have not got the former", async () => {
  await send(fileOf(1));
  await database.admin`
    insert into notification.template (name, version, text, author, approver, approved_at)
    values ('reminder', 1, 'Baru {{name}}', 'sari', 'budi', now())`;
  await send(fileOf(2));
  expect((await sent()).map(({ text }) => text.slice(0, 4))).toEqual(["Yth.", "Baru"]);
});

test("a file that two tasks send at once under one name reaches each phone once", async () => {
  const other = await openConsole();
  await Promise.all([console, other].map((one) => one.start(fileOf(500), fields)));
  await expect.poll(async () => (await findRun("tax"))?.counts, { timeout: 30_000 }).toMatch(/^500 accepted/);
  await untilEnded();
  const told = await phones();
  expect([told.length, new Set(told).size]).toEqual([500, 500]);
});

test("a name that a run with another template has is rejected, by the preview too", async () => {
  await send(fileOf(1));
  const csv = "phone,system,summary,since\n628125550001,Air,Mati,09:00\n";
  const { text } = await console.preview(csv, { template: "system-alert", run: "tax" });
  expect(text).toContain("the name tax is taken by a run with the template reminder");
  expect(await phones()).toEqual([phoneOf(0)]);
});

test("a run that was killed before it recorded what it handed over tells nobody again, even after the keys have expired", async () => {
  await send(fileOf(3));
  const first = await sent();
  await database.admin`truncate notification.recipient, messaging.idempotency`;
  expect(await send(fileOf(3))).toBe("3 accepted, 0 opted out, 0 rejected");
  expect(await sent()).toEqual(first);
});

const forgetMessages = () => database.admin`truncate messaging.message, messaging.idempotency cascade`;

test("a run is known for a month after its last message was due", async () => {
  const age = async (days: number) => {
    await database.admin`update notification.run set changed_at = now() - interval '31 days'`;
    await database.admin`update notification.recipient set seen_at = now() - ${`${days} days`}::text::interval`;
  };
  await send(fileOf(1));
  await forgetMessages();
  await age(29);
  await deleteOld(database.admin);
  await send(fileOf(1));
  expect(await phones()).toEqual([]);
  await age(31);
  // the run follows its recipients
  for (const _ of [1, 2]) await deleteOld(database.admin);
  expect(await findRun("tax")).toBeUndefined();
});

test("a run is known as a whole until a month after its last message was due", async () => {
  await send(fileOf(2));
  await forgetMessages();
  await database.admin`
    update notification.recipient set seen_at = now() - case line when 2 then 31 else 2 end * interval '1 day'`;
  await deleteOld(database.admin);
  expect(await send(fileOf(2))).toBe("2 accepted, 0 opted out, 0 rejected");
  expect(await phones()).toEqual([]);
});

test("a file that is repeated after it was sent reaches each phone once", async () => {
  await untilOpen(console.task);
  await database.admin`update messaging.control set paused = false`;
  const [phone] = platform.phones;
  // a template without quiet hours
  const csv = `phone,system,summary,since\n${phone?.number},Air,Mati,09:00\n`;
  const alert = { template: "system-alert", run: "water" };
  await send(csv, alert);
  await expect.poll(() => phone?.inbox.length).toBe(1);
  expect(await send(csv, alert)).toBe("1 accepted, 0 opted out, 0 rejected");
  expect(await phones()).toHaveLength(1);
  expect(phone?.inbox.map(({ text }) => text)).toEqual([expect.stringContaining("*Air*")]);
});

test("a cancelled run sends nothing of what waits, for good, and its report says what became of each line", async () => {
  await optOut(phoneOf(2));
  await send(fileOf(3, "0812-55,X,P,D"));
  await database.admin`update messaging.message set state = 'SENT' where phone = ${phoneOf(0)}`;
  for (const _ of [1, 2]) await cancel("tax");
  expect((await console.preview(fileOf(3), fields)).text).toContain("it was cancelled");
  expect((await sent()).map(({ state }) => state)).toEqual(["SENT", "CANCELLED"]);
  const time = String.raw`\d{4}-\d\d-\d\dT\S+Z`;
  expect(await console.report("tax")).toMatch(
    new RegExp(
      [
        "^line,file,phone,state,reason,time",
        `2,[0-9a-f]{12},6281••••••00,SENT,,${time}`,
        `3,[0-9a-f]{12},6281••••••01,CANCELLED,,${time}`,
        `4,[0-9a-f]{12},6281••••••02,opted out,,${time}`,
        `5,[0-9a-f]{12},0812••,rejected,"?phone must be .+,${time}\n?$`,
      ].join("\n"),
    ),
  );
});

test("a run that does not exist cannot be cancelled", async () => {
  const answer = await console.post("../cancel-run", new URLSearchParams({ run: "none", confirmed: "yes" }));
  expect(await answer.text()).toContain("There is no such bulk run.");
});

test("a report has no cell that a spreadsheet would calculate, whatever is in the file", async () => {
  const formulas = ["=1+1", "+62811-x", "-1", "@SUM(A1)", "\t=1", '"=HYPERLINK(""x"")"'];
  await send(fileOf(1, ...formulas.map((cell) => `${cell},${cell},${cell},${cell}`)));
  const report = await console.report("tax");
  expect(report.trimEnd().split("\n")).toHaveLength(formulas.length + 2);
  expect(report).not.toMatch(/(^|,|")\s*[=+\-@]/m);
});

test.each(["nonsense", "one-time-code", "proof"])(
  "a file cannot be sent with the template %s",
  async (template) => {
    const { text } = await console.preview(fileOf(1), { template });
    expect(text).toContain(`there is no template ${template} for bulk runs`);
  },
);
