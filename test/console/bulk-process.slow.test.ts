import { beforeEach, expect, onTestFinished, test } from "vitest";
import { messengerSecrets } from "#lib/routes/internal.ts";
import { startMessengerProcess } from "../../infra/local/messenger/process.ts";
import { fileOf, openBulkConsole, phoneOf } from "../steps/bulk-console.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { notifyIn } from "../steps/notify-command.ts";

/*
 * The console of the messenger's bundle, in a process with the memory of its container.
 */
const own = useOwnCity(() => ({ messenger: "fake" }));
const admin = withCityDatabase(own);

/** A second task of the city's messenger: it leads no account. */
const startTask = async () => {
  const lines: string[] = [];
  const settings = {
    ...own.city.variables({ secrets: messengerSecrets }),
    ...{ MESSENGER_HOST: "127.0.0.1", MESSENGER_PORT: "0", MESSENGER_PACE: "off", LOG_LEVEL: "info" },
    PLATFORM_URL: "ws://127.0.0.1:1",
  };
  const task = await startMessengerProcess(settings, (line) => lines.push(line));
  onTestFinished(() => task.kill());
  return { task, lines, console: await openBulkConsole(task.url, own.city.console) };
};

const phones = async () =>
  (await admin((sql) => sql<{ phone: string }[]>`select phone from messaging.message`)).map(
    ({ phone }) => phone,
  );
const stateOf = async (name: string) =>
  (await admin((sql) => sql`select state from notification.run where job = ${`bulk:${name}`}`))[0]?.state;

beforeEach(() =>
  admin(async (sql) => {
    await sql`update messaging.control set paused = true`;
    await sql`truncate messaging.message, messaging.idempotency cascade`;
    await sql`truncate notification.run, notification.recipient, notification.opt_out, notification.template`;
  }),
);

test("the console of a task reads with a role of its own", async () => {
  const { console } = await startTask();
  const listConsoles = () =>
    admin((sql) => sql`select usename from pg_stat_activity where usename = 'municipal_console'`);
  expect(await listConsoles()).toHaveLength(0);
  await console.read();
  expect(await listConsoles()).toHaveLength(1);
});

test("a preview counts the lines by outcome, masked, and leaves no number and no value in the log", async () => {
  const { console, lines } = await startTask();
  await notifyIn(own)("opt-out", phoneOf(2));
  const file = fileOf(4, "0812-55,X,P,D", `+${phoneOf(1)},Lagi,P,D`, `${phoneOf(9)},,P,D`);
  const { text } = await console.preview(file, { template: "reminder" });
  for (const said of [
    "will be sent 3 sent before 0 opted out 1 invalid number 1 duplicate 1 invalid values 1 ",
    "Sending takes 1 day at the present budgets",
    "Line 2, to 6281••••••00 Yth. W•••• 0, *Pajak* Bayar di loket",
    "6 0812•• invalid number phone must be a number with country code",
    "7 6281••••••01 duplicate the number is on line 3",
    "8 6281••••••09 invalid values name is missing",
  ])
    expect(text).toContain(said);
  expect(text.match(/Yth\./g)).toHaveLength(3);
  expect(text).not.toMatch(/Warga|62811\d{4}/);
  expect(await phones()).toEqual([]);
  const run = /Run (reminder-\w+) /.exec(text)?.[1] ?? "";
  await console.start(file, { template: "reminder" });
  await expect.poll(() => stateOf(run)).toBe("done");
  const [counts] = await admin((sql) => sql`select accepted, opted_out, refused from notification.run`);
  expect(counts).toEqual({ accepted: 3, opted_out: 1, refused: 3 });
  expect(await phones()).toHaveLength(3);
  expect(lines.join("\n")).not.toMatch(/62811\d|Warga|loket/);
});

test("a task that is killed twice in the middle, and gets the file again, tells nobody twice", {
  timeout: 180_000,
}, async () => {
  const file = fileOf(1_000);
  const fields = { template: "reminder", run: "tax" };
  for (const point of [1, 401]) {
    const { task, console } = await startTask();
    await console.start(file, fields);
    // a look is a statement, so this waits by itself
    while ((await phones()).length < point);
    await task.kill();
    expect(await stateOf("tax")).toBe("running");
  }
  expect((await phones()).length).toBeLessThan(1_000);
  await admin((sql) => sql`update notification.run set changed_at = now() - interval '2 minutes'`);
  const { console } = await startTask();
  expect(await console.read()).toContain("running interrupted: send the file again with this name");
  await console.start(file, fields);
  await expect.poll(() => stateOf("tax"), { timeout: 60_000 }).toBe("done");
  expect(await console.read()).toContain("handed over, 0 of 1,000 sent tax reminder");
  const told = await phones();
  expect([told.length, new Set(told).size]).toEqual([1_000, 1_000]);
  expect((await console.report("tax")).trim().split("\n")).toHaveLength(1_001);
});

test("a task that is stopped ends its run after the batch, and says how it goes on", async () => {
  const { task, console } = await startTask();
  await console.start(fileOf(3_000), { template: "reminder", run: "tax" });
  while ((await phones()).length === 0);
  await task.stop();
  const [run] = await admin((sql) => sql`select state, reason from notification.run`);
  expect(run).toEqual({
    state: "failed",
    reason: "the messenger was stopped; send the same file again with this name",
  });
  const before = (await phones()).length;
  expect(before).toBeLessThan(3_000);
  const next = await startTask();
  await next.console.start(fileOf(3_000), { template: "reminder", run: "tax" });
  await expect.poll(() => stateOf("tax"), { timeout: 60_000 }).toBe("done");
  expect(new Set(await phones()).size).toBe(3_000);
});

test("the largest file of the longest texts fits in the memory of the container", {
  timeout: 240_000,
}, async () => {
  await admin(
    (sql) => sql`
      insert into notification.template (name, version, text, class, parameters, author, approver, approved_at)
      values ('long', 1, ${`{{name}} ${"é…".repeat(1_950)}`}, 'bulk', '{"name": "words:120"}', 'sari', 'budi', now())`,
  );
  const { task, console } = await startTask();
  const lines = Array.from({ length: 20_000 }, (_, row) => `${phoneOf(row)},${"Ñandú…".repeat(17)} ${row}`);
  const file = ["phone,name", ...lines].join("\n");
  expect(Buffer.byteLength(file)).toBeGreaterThan(3 * 1024 * 1024);
  const { text } = await console.preview(file, { template: "long", run: "all" });
  expect(text).toContain("will be sent 20,000");
  await console.start(file, { template: "long", run: "all" });
  await expect.poll(async () => (await phones()).length, { timeout: 180_000 }).toBeGreaterThan(4_000);
  await task.stop();
});
