import { expect, onTestFinished, test } from "vitest";
import { languages } from "#lib/console/words.ts";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import type { Task } from "#lib/messenger/task.ts";
import * as running from "../fleet/running-task.ts";

running.stageEachTest();

const second = "6281100000002";
const contacts = Array.from({ length: 8 }, (_, n) => `628120000010${n}`);

/** Adds an account to the database, and a number on the platform that can be linked to it. */
const addAccount = async ({ pool = "city", state = "active" } = {}) => {
  const other = running.platform.addAccount(second);
  other.behave({ receipts: ["delivered", "read"] });
  for (const number of contacts) running.platform.register(number);
  const [row] = await running.database.admin<{ id: number }[]>`
    insert into messaging.account (name, pool, state) values ('second', ${pool}, ${state}) returning id`;
  // not a copy, whose sockets would be those of now
  return Object.assign(other, { id: row?.id ?? 0 });
};
type Other = Awaited<ReturnType<typeof addAccount>>;

const kindOf = (task: Task, account: number) => task.findLeadership(account)?.whatsApp?.state().kind;

/** Links the account by a scan with its number. */
const link = async (task: Task, { id, scan }: Other) => {
  await expect.poll(() => kindOf(task, id)).toMatch(/pairing|open/);
  const state = task.findLeadership(id)?.whatsApp?.state();
  if (state?.kind === "pairing") await scan(state.qr);
  await expect.poll(() => kindOf(task, id)).toBe("open");
};

const startBoth = async (other: Other) => {
  const task = await running.startOpen();
  await link(task, other);
  return task;
};

/** The platform locks the first account. */
const ban = () => {
  running.platform.behave({ receipts: ["delivered", "read"], loginFailure: { code: 403 } });
  running.platform.disconnect("drop");
};

/** Who has sent to a phone, in order. */
const sendersTo = (phone: string) =>
  running.platform.phone(phone).inbox.map(({ from }) => from.replace(/[:@].*/, ""));
const lidOf = (other: Other) => other.phone.lid;

const until = (phone: string, id: string) =>
  running.platform.until(() => running.platform.phone(phone).inbox.some((message) => message.id === id));

/** Sends each a text, one after the other. */
const sendToAll = async (
  task: Task,
  more: Record<string, unknown> = {},
  phones: readonly string[] = contacts,
) => {
  for (const phone of phones) {
    const { id } = await running.submit(task, { phone, ...more });
    await until(phone, id);
  }
};

const known = ["6281200000100", "6281200000101"] as const;

/** Starts both accounts, of which the known contacts know the first: it was alone when they got a text. */
const startKnown = async (other: Other) => {
  const task = await running.startOpen();
  await sendToAll(task, {}, known);
  await link(task, other);
  return task;
};

test("two accounts of a pool share new recipients, and each recipient keeps its account", async () => {
  const other = await addAccount();
  const task = await startBoth(other);
  // whichever asks first takes a new recipient: rarely one has many in a row
  const written: string[] = [];
  const sendersOf = () => written.map((phone) => [...new Set(sendersTo(phone))]);
  while (new Set(sendersOf().flat()).size < 2) {
    const phone = String(6_281_300_000_000 + written.length);
    running.platform.register(phone);
    written.push(phone);
    await sendToAll(task, {}, [phone]);
  }
  for (let round = 0; round < 2; round++) await sendToAll(task, {}, written);
  expect(sendersOf().filter((senders) => senders.length !== 1)).toEqual([]);
});

test("a sender's messages are sent by the accounts of its pool alone", async () => {
  const other = await addAccount({ pool: "health" });
  await running.database.admin`insert into messaging.sender (name, pool) values ('clinic', 'health')`;
  const task = await startBoth(other);
  await sendToAll(task, { sender: "api:clinic" });
  for (const phone of contacts) expect(sendersTo(phone)).toEqual([lidOf(other)]);
});

test("messages that have not left a banned account are sent by another one, each once", async () => {
  const other = await addAccount();
  const task = await startKnown(other);
  ban();
  await expect.poll(() => kindOf(task, 1)).toBe("stopped");
  await sendToAll(task);
  for (const phone of known)
    expect(sendersTo(phone)).toEqual([expect.not.stringContaining(lidOf(other)), lidOf(other)]);
});

test("what waited for an account that can no longer send is sent by another one", async () => {
  const other = await addAccount();
  const task = await startKnown(other);
  await setPaused(running.sql, true);
  const { id } = await running.submit(task, { phone: known[0] });
  ban();
  await expect.poll(() => kindOf(task, 1)).toBe("stopped");
  await setPaused(running.sql, false);
  await until(known[0], id);
  expect(sendersTo(known[0]).at(-1)).toBe(lidOf(other));
});

test("a message that may have reached the phone is not sent by another account", async () => {
  const other = await addAccount();
  const task = await startKnown(other);
  const [unsure, sure] = known;
  running.platform.behave({ dropBeforeAck: 1, receipts: [], loginFailure: { code: 403 } });
  const { id } = await running.submit(task, { phone: unsure });
  await expect.poll(() => kindOf(task, 1)).toBe("stopped");
  const { id: later } = await running.submit(task, { phone: sure });
  await until(sure, later);
  expect(sendersTo(sure).at(-1)).toBe(lidOf(other));
  expect(await running.sql`select state, account from messaging.message where id = ${id}`).toEqual([
    { state: "PENDING", account: 1 },
  ]);
  expect(sendersTo(unsure)).not.toContain(lidOf(other));
});

test("a spare sends nothing until no other account of its pool can send", async () => {
  const other = await addAccount({ state: "spare" });
  const task = await startBoth(other);
  await sendToAll(task);
  for (const phone of contacts) expect(sendersTo(phone)).not.toContain(lidOf(other));
  ban();
  await sendToAll(task);
  for (const phone of contacts) expect(sendersTo(phone).at(-1)).toBe(lidOf(other));
});

test("tasks share the accounts, and one that ends leaves its own to the other", async () => {
  const other = await addAccount();
  const first = await startBoth(other);
  const next = await running.start(noPace);
  const ledBy = (task: Task) => [1, other.id].filter((id) => task.findLeadership(id)?.whatsApp);
  await expect.poll(() => [ledBy(first).length, ledBy(next).length]).toEqual([1, 1]);
  await first.stop();
  await expect.poll(() => ledBy(next)).toEqual([1, other.id]);
  await expect.poll(() => [kindOf(next, 1), kindOf(next, other.id)]).toEqual(["open", "open"]);
  await sendToAll(next);
  expect(running.platform.sockets.mostLoggedIn).toBe(1);
  expect(other.sockets.mostLoggedIn).toBe(1);
});

test("the console shows one of several accounts, and a form acts on the one that was shown with it", async () => {
  const other = await addAccount();
  const task = await startBoth(other);
  const console = await running.openConsole(task);
  expect(await console.read()).toContain("main WhatsApp city active 6281•••••••01 Connected 0 shown second");
  expect(await console.press("account?account=second")).toContain("6281•••••••02 Connected 0 shown");
  await console.press("account?account=main");
  await console.press("unlink?account=second", { confirmation: languages.en("unlinking.word") });
  await expect.poll(() => kindOf(task, other.id)).toBe("pairing");
  expect(kindOf(task, 1)).toBe("open");
  expect(await console.press("log-in?account=unknown")).toContain(languages.en("failures.notLeader"));
});

test("a second account that is linked to the same number sends nothing", async () => {
  const other = await addAccount();
  const task = await running.startOpen();
  await expect.poll(() => kindOf(task, other.id)).toBe("pairing");
  const state = task.findLeadership(other.id)?.whatsApp?.state();
  if (state?.kind === "pairing") await running.platform.scan(state.qr);
  await expect.poll(() => kindOf(task, other.id)).toBe("open");
  await sendToAll(task);
  expect(await running.sql`select distinct account from messaging.message`).toEqual([{ account: 1 }]);
  expect(await running.sql`select number from messaging.account where id = ${other.id}`).toEqual([
    { number: null },
  ]);
});

test("an account that was linked before and is linked to another's number sends nothing", async () => {
  const other = await addAccount();
  const task = await startBoth(other);
  const console = await running.openConsole(task);
  await console.press("unlink?account=second", { confirmation: languages.en("unlinking.word") });
  await expect.poll(() => kindOf(task, other.id)).toBe("pairing");
  const state = task.findLeadership(other.id)?.whatsApp?.state();
  if (state?.kind === "pairing") await running.platform.scan(state.qr);
  await expect.poll(() => kindOf(task, other.id)).toBe("open");
  await sendToAll(task);
  expect(await running.sql`select distinct account from messaging.message`).toEqual([{ account: 1 }]);
});

test("an account that is retired is no longer connected", async () => {
  const other = await addAccount();
  const task = await startBoth(other);
  await running.database.admin`update messaging.account set state = 'retired' where id = ${other.id}`;
  await expect.poll(() => task.findLeadership(other.id)?.whatsApp).toBeUndefined();
  await sendToAll(task);
  for (const phone of contacts) expect(sendersTo(phone)).not.toContain(lidOf(other));
  onTestFinished(() => expect(running.platform.faults).toEqual([]));
});
