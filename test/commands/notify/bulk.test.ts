import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { startCommand } from "../../steps/command.ts";
import { notifyIn, notifySettings } from "./notify-command.ts";

const own = useOwnCity(() => ({ messenger: "fake" }));
const admin = withCityDatabase(own);

const notify = notifyIn(own);
const bulk = (file: string, ...more: string[]) => notify("bulk", file, "--template", "reminder", ...more);

const folder = mkdtempSync(join(tmpdir(), "bulk-"));
const file = join(folder, "people.csv");
afterAll(() => rmSync(folder, { recursive: true }));

const phoneOf = (row: number) => `62811${1_000_000 + row}`;
const write = (...lines: string[]) => writeFileSync(file, `${lines.join("\n")}\n`);
/** Writes a header and so many valid lines, then others. */
const writePeople = (count: number, ...others: string[]) => {
  const valid = Array.from(
    { length: count },
    (_, row) => `${phoneOf(row)},Warga ${row},Pajak,Bayar di loket`,
  );
  write("phone,name,subject,details", ...valid, ...others);
};

const sent = () =>
  admin(
    (sql) => sql<{ phone: string; state: string; priority: number; text: string }[]>`
    select phone, state, priority, content ->> 'text' as text from messaging.message order by seq`,
  );
const phones = async () => (await sent()).map(({ phone }) => phone);
const countMessages = async () => (await sent()).length;
const countRuns = async () => (await admin((sql) => sql`select from notification.run`)).count;

beforeEach(() =>
  admin(async (sql) => {
    await sql`update messaging.control set paused = true`;
    await sql`truncate messaging.message, messaging.idempotency cascade`;
    await sql`truncate notification.run, notification.recipient, notification.opt_out, notification.template`;
  }),
);

describe("bulk --dry-run", () => {
  test("counts the lines by outcome, shows three masked messages and the days, and sends nothing", async () => {
    await notify("opt-out", phoneOf(2));
    writePeople(6, "0812-55,X,P,D", `+${phoneOf(1)},Lagi,P,D`, `${phoneOf(9)},,P,D`);
    const { status, out } = await bulk(file, "--dry-run");
    expect(status).toBe(0);
    expect(out).toMatch(
      / 5 {2}would be sent\n +0 {2}sent before\n +1 {2}opted out\n +1 {2}invalid number\n +1 {2}duplicate\n +1 {2}invalid values\n/,
    );
    expect(out).toContain("line 2  6281••••••00\n    Yth. W•••• 0,\n    \n    *Pajak*");
    expect(out.match(/Yth\./g)).toHaveLength(3);
    expect(out).toContain("line 8  •••••••  invalid number: phone must be a number with country code");
    expect(out).toContain("line 9  6281••••••01  duplicate: the number is on line 3");
    expect(out).toContain("line 10  6281••••••09  invalid values: name is missing");
    expect(out).toContain("Sending takes 1 day at the present budgets. Dry run of reminder-");
    expect(out).not.toMatch(/Warga|62811\d{4}/);
    expect([await countMessages(), await countRuns()]).toEqual([0, 0]);
  });

  test("of a run that was sent shows that nobody would get anything", async () => {
    writePeople(2);
    await bulk(file);
    expect((await bulk(file, "--dry-run")).out).toMatch(/ 0 {2}would be sent\n +2 {2}sent before\n/);
  });
});

describe("bulk", () => {
  test("sends each line once, in the class bulk, also when the file is repeated in another format", async () => {
    writePeople(2);
    const { status, out } = await bulk(file, "--json");
    expect([status, JSON.parse(out)]).toMatchObject([0, { accepted: 2, refused: 0, state: "done", days: 1 }]);
    const first = await sent();
    expect(first).toMatchObject([
      { phone: phoneOf(0), priority: 3, text: expect.stringContaining("Yth. Warga 0,\n\n*Pajak*\nBayar") },
      { phone: phoneOf(1), priority: 3 },
    ]);
    write(
      "\uFEFFName;details;SUBJECT;phone;note",
      "Warga 0;Bayar di loket;Pajak;+62 811-1000-000;x",
      '"Warga 1";Bayar di loket;Pajak;08111000001;x',
    );
    const again = await bulk(file);
    expect(again).toMatchObject({ status: 0, errors: expect.stringContaining("Ignored columns: note") });
    expect(again.out).toContain(`bulk:${JSON.parse(out).name} at `);
    expect(again.out).toContain("recipients: 2 accepted");
    expect(await sent()).toEqual(first);
  });

  test("without a column of the template names it before anything is sent", async () => {
    write("phone,name,subjekt,details", `${phoneOf(0)},A,B,C`);
    expect(await bulk(file)).toMatchObject({
      status: 1,
      errors: expect.stringContaining("these are missing: subject. Expected:\nphone,name,subject,details"),
    });
    expect([await countMessages(), await countRuns()]).toEqual([0, 0]);
  });

  test("reports lines that cannot be sent, and sends only those when they are corrected", async () => {
    writePeople(2, "0812-55,X,P,D", '628125550002,"X,P,D');
    const { status, out } = await bulk(file);
    expect(status).toBe(3);
    expect(out).toContain("recipients: 2 accepted, 0 opted out, 2 rejected");
    expect(out).toContain("line 4  rejected: phone must be");
    expect(out).toContain("line 5  rejected: the ");
    const name = /with --name (\S+):/.exec(out)?.[1] ?? "";
    writePeople(2, "628125550001,X,P,D", "628125550002,X,P,D");
    const corrected = await bulk(file, "--name", name);
    expect(corrected).toMatchObject({
      status: 0,
      out: expect.stringContaining("4 accepted, 0 opted out, 0 rejected"),
    });
    expect(await phones()).toEqual([phoneOf(0), phoneOf(1), "628125550001", "628125550002"]);
  });

  test("with a new name sends the same file anew", async () => {
    writePeople(1);
    for (const name of ["march", "april", "april"]) await bulk(file, "--name", name);
    expect(await phones()).toEqual([phoneOf(0), phoneOf(0)]);
  });

  test("leaves out who has opted out, except in the class transactional", async () => {
    writePeople(2);
    await notify("opt-out", phoneOf(0));
    expect((await bulk(file)).out).toContain("1 accepted, 1 opted out, 0 rejected");
    expect(await phones()).toEqual([phoneOf(1)]);
    await bulk(file, "--name", "flood", "--class", "transactional");
    expect((await sent()).slice(1)).toMatchObject([
      { phone: phoneOf(0), priority: 1 },
      { phone: phoneOf(1), priority: 1 },
    ]);
  });

  test("of a template whose text has changed sends the new text, to those who have not got the former", async () => {
    writePeople(1);
    await bulk(file, "--name", "march");
    await admin(
      (sql) => sql`
        insert into notification.template (name, version, text, author, approver, approved_at)
        values ('reminder', 1, 'Baru {{name}}', 'sari', 'budi', now())`,
    );
    writePeople(2);
    await bulk(file, "--name", "march");
    expect((await sent()).map(({ text }) => text.slice(0, 4))).toEqual(["Yth.", "Baru"]);
  });

  test("started twice at once under one name reaches each phone once", { timeout: 120_000 }, async () => {
    writePeople(500);
    const start = () =>
      startCommand(
        "infra/commands/notify/notify.ts",
        notifySettings(own.city),
        "bulk",
        file,
        "--template",
        "reminder",
      ).ended;
    for (const { status, out } of await Promise.all([start(), start()]))
      expect([status, out]).toEqual([0, expect.stringContaining("500 accepted")]);
    expect([await countMessages(), new Set(await phones()).size, await countRuns()]).toEqual([500, 500, 1]);
  });

  test("of more lines than can be planned reads no more than these", async () => {
    writeFileSync(file, "phone,name,subject,details\n");
    const block = Array.from({ length: 10_000 }, (_, row) => `${phoneOf(row)},Warga,Pajak,Bayar\n`).join("");
    for (let blocks = 0; blocks < 100; blocks++) appendFileSync(file, block);
    const before = process.memoryUsage().rss;
    expect(await bulk(file)).toMatchObject({
      status: 1,
      errors: expect.stringContaining("the file has more than 20000 recipients; split it"),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    expect(await countRuns()).toBe(0);
  });

  test("rejects a name that a run with another template has", async () => {
    writePeople(1);
    await bulk(file, "--name", "march");
    write("phone,system,summary,since", "628125550001,Air,Mati,09:00");
    for (const more of [[], ["--dry-run"]])
      expect(
        await notify("bulk", file, "--template", "system-alert", "--name", "march", ...more),
      ).toMatchObject({
        status: 1,
        errors: expect.stringContaining("the name march is taken by a run with the template reminder"),
      });
    expect(await countMessages()).toBe(1);
  });

  test("killed before it recorded what it handed over tells nobody again, even after the keys have expired", async () => {
    writePeople(3);
    await bulk(file);
    const first = await sent();
    await admin((sql) => sql`truncate notification.recipient, messaging.idempotency`);
    expect((await bulk(file)).out).toContain("recipients: 3 accepted");
    expect(await sent()).toEqual(first);
  });

  test("is known for a month after its last message was due", async () => {
    const age = (days: number) =>
      admin(async (sql) => {
        await sql`update notification.run set changed_at = now() - interval '31 days'`;
        await sql`update notification.recipient set seen_at = now() - ${`${days} days`}::text::interval`;
      });
    writePeople(1);
    await bulk(file);
    await admin((sql) => sql`truncate messaging.message, messaging.idempotency cascade`);
    await age(29);
    await own.city.invoke("maintain", {});
    await bulk(file);
    expect(await countMessages()).toBe(0);
    await age(31);
    // the run follows its recipients
    for (const _ of [1, 2]) await own.city.invoke("maintain", {});
    expect(await countRuns()).toBe(0);
  });

  test("is known as a whole until a month after its last message was due", async () => {
    writePeople(2);
    await bulk(file);
    await admin(async (sql) => {
      await sql`truncate messaging.message, messaging.idempotency cascade`;
      await sql`
        update notification.recipient set seen_at = now() - case line when 2 then 31 else 2 end * interval '1 day'`;
    });
    await own.city.invoke("maintain", {});
    expect((await bulk(file)).out).toContain("recipients: 2 accepted");
    expect(await countMessages()).toBe(0);
  });

  test("killed twice in the middle and repeated hands each line over once", {
    timeout: 120_000,
  }, async () => {
    writePeople(1_000);
    const start = () =>
      startCommand(
        "infra/commands/notify/notify.ts",
        notifySettings(own.city),
        "bulk",
        file,
        "--template",
        "reminder",
      );
    for (const point of [1, 401]) {
      const run = start();
      // a look is a statement, so this waits by itself
      while ((await countMessages()) < point);
      run.kill();
      expect((await run.ended).status).toBeNull();
    }
    expect(await start().ended).toMatchObject({ status: 0, out: expect.stringContaining("1000 accepted") });
    expect([await countMessages(), new Set(await phones()).size]).toEqual([1_000, 1_000]);
  });

  test("repeated while it is sent reaches each phone once", { timeout: 120_000 }, async () => {
    const platform = own.city.messenger?.platform ?? expect.fail("the city has no platform");
    const inboxOf = (row: number) =>
      platform.phones.find(({ number }) => number === phoneOf(row))?.inbox ?? [];
    // these have no quiet hours
    write("phone,system,summary,since", ...[1, 2, 3].map((row) => `${phoneOf(row)},Air,Mati,09:00`));
    const send = () => notify("bulk", file, "--template", "system-alert");
    await admin((sql) => sql`update messaging.control set paused = false`);
    await send();
    await expect
      .poll(() => [1, 2, 3].map((row) => inboxOf(row).length), { timeout: 90_000 })
      .toEqual([1, 1, 1]);
    expect((await send()).out).toContain("recipients: 3 accepted");
    expect(await countMessages()).toBe(3);
    expect(inboxOf(1)[0]?.text).toContain("*Air*");
  });
});

test("bulk-cancel cancels what waits, for good, and bulk-report says what became of each line", async () => {
  await notify("opt-out", phoneOf(2));
  writePeople(3, "0812-55,X,P,D");
  await bulk(file, "--name", "tax");
  await admin((sql) => sql`update messaging.message set state = 'SENT' where phone = ${phoneOf(0)}`);
  expect((await notify("bulk-cancel", "tax")).out).toBe("1 messages of tax were cancelled.\n");
  expect((await notify("bulk-cancel", "tax")).out).toBe("0 messages of tax were cancelled.\n");
  for (const more of [[], ["--dry-run"]])
    expect(await bulk(file, "--name", "tax", ...more)).toMatchObject({
      status: 1,
      errors: expect.stringContaining("tax failed: it was cancelled"),
    });
  expect((await sent()).map(({ state }) => state)).toEqual(["SENT", "CANCELLED"]);
  const time = String.raw`\d{4}-\d\d-\d\dT\S+Z`;
  expect((await notify("bulk-report", "tax")).out).toMatch(
    new RegExp(
      [
        "^line,file,phone,state,reason,time",
        `2,[0-9a-f]{12},6281••••••00,SENT,,${time}`,
        `3,[0-9a-f]{12},6281••••••01,CANCELLED,,${time}`,
        `4,[0-9a-f]{12},6281••••••02,opted out,,${time}`,
        `5,[0-9a-f]{12},•••••••,rejected,"?phone must be .+,${time}\n$`,
      ].join("\n"),
    ),
  );
});

test("bulk-report has no cell that a spreadsheet would calculate, whatever is in the file", async () => {
  const formulas = ["=1+1", "+62811-x", "-1", "@SUM(A1)", "\t=1", '"=HYPERLINK(""x"")"'];
  write("phone,name,subject,details", ...formulas.map((cell) => `${cell},${cell},${cell},${cell}`));
  await bulk(file, "--name", "tax");
  const { out } = await notify("bulk-report", "tax");
  expect(out.split("\n")).toHaveLength(formulas.length + 2);
  expect(out).not.toMatch(/(^|,|")\s*[=+\-@]/m);
});

test("bulk-status shows the progress of a run, and lists the latest", async () => {
  writePeople(2);
  await bulk(file, "--name", "first");
  await bulk(file, "--name", "second");
  expect((await notify("bulk-status", "first")).out).toMatch(
    /^bulk:first at \S+Z {2}done\n {2}recipients: 2 accepted.+\n {2}messages: 2 PENDING\n$/,
  );
  expect((await notify("bulk-status")).out).toMatch(
    /^run +template +started +state +accepted +rejected\nsecond +reminder .+ done +2 +0\nfirst /,
  );
});

test.each([
  [["bulk", "/nowhere.csv", "--template", "reminder"], 2, "File not found: /nowhere.csv"],
  [["bulk", "package.json"], 2, "Required option '--template <template>' not specified"],
  [["bulk", "package.json", "--template", "nonsense"], 2, "No template for bulk runs: nonsense"],
  [
    ["bulk", "package.json", "--template", "one-time-code"],
    2,
    "No template for bulk runs: one-time-code. See",
  ],
  [["bulk", "package.json", "--template", "proof"], 2, "No template for bulk runs: proof"],
  [
    ["bulk", "package.json", "--template", "reminder", "--class", "news"],
    2,
    "Allowed choices are bulk, reminder, transactional",
  ],
  [
    ["bulk", "package.json", "--template", "reminder", "--name", "May 1"],
    2,
    "1 to 80 lower-case letters, digits and dashes",
  ],
  [["bulk-status", "none"], 1, "No bulk run none. See: npm run notify -- bulk-status"],
  [["bulk-report", "none"], 1, "No bulk run none"],
  [["bulk-cancel", "none"], 1, "No bulk run none"],
])("rejects %j with exit code %d and says what to do", async (args, status, message) => {
  expect(await notify(...args)).toMatchObject({ status, errors: expect.stringContaining(message) });
});

test("says what to do when the messenger is unavailable", { timeout: 120_000 }, async () => {
  writePeople(1);
  const variables = own.city.variables;
  own.city.variables = (needed) => ({ ...variables(needed), MESSENGER_URL: "http://127.0.0.1:1" });
  try {
    expect((await bulk(file, "--dry-run")).errors).toContain(
      "The messenger did not answer (session_unavailable). Try again.",
    );
    expect((await notify("bulk-cancel", "none")).errors).toContain("The messenger did not answer");
  } finally {
    own.city.variables = variables;
  }
});
