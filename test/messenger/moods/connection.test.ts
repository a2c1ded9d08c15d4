import { describe, expect, test } from "vitest";
import { ownVersion } from "#lib/messenger/channels/whatsapp/web-version.ts";
import { readFigures, SendCounter } from "#lib/messenger/figures.ts";
import { noPace, Pacing } from "#lib/messenger/send/pacing.ts";
import type { Task } from "#lib/messenger/task.ts";
import type { Misbehaviour } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  openConsole,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  stateOf,
  submit,
  untilOpen,
} from "../running-task.ts";
import { unusedAccount } from "../send/unused-account.ts";

stageEachTest();

const newer = ownVersion[2] + 1;
const newerText = `2.3000.${newer}`;

const untilKind = (task: Task, kind: string) =>
  expect.poll(() => task.findWhatsApp()?.state().kind).toBe(kind);

const figuresOf = async (task: Task) => {
  const whatsApp = task.findWhatsApp();
  if (!whatsApp) throw new Error("the task does not lead");
  const pacing = new Pacing(noPace, unusedAccount);
  const { connected, unlinked, rejected, passkey } = await readFigures({
    ...{ sql, whatsApp, pacing, counter: new SendCounter() },
  });
  return { connected, unlinked, rejected, passkey };
};
const rejected = { connected: 0, unlinked: 0, rejected: 1, passkey: 0 };
const unlinked = { connected: 0, unlinked: 1, rejected: 0, passkey: 0 };

interface Row {
  readonly code: number;
  readonly mood: Misbehaviour;
  readonly kind: "closed" | "stopped";
  readonly says: string;
  readonly figures: object;
  /** What the operator presses once the platform accepts logins again; undefined: its time is over. */
  readonly press?: readonly [action: string, fields?: Record<string, string>];
}

const rows: readonly Row[] = [
  {
    code: 401,
    mood: { loginFailure: { code: 401 } },
    kind: "stopped",
    says: "Unlinked WhatsApp has removed the link",
    figures: unlinked,
    press: ["old-link"],
  },
  {
    code: 402,
    mood: { loginFailure: { code: 402, expireSeconds: 3_600 } },
    kind: "closed",
    says: "Banned WhatsApp has banned the account for a time. No login is tried before",
    figures: rejected,
  },
  {
    code: 403,
    mood: { loginFailure: { code: 403 } },
    kind: "stopped",
    says: "Rejected WhatsApp has locked the account.",
    figures: rejected,
    press: ["log-in"],
  },
  {
    code: 405,
    mood: { minRevision: newer },
    kind: "stopped",
    says: "Rejected WhatsApp rejects the version",
    figures: rejected,
    press: ["version", { version: newerText }],
  },
  {
    code: 406,
    mood: { loginFailure: { code: 406 } },
    kind: "stopped",
    says: "Rejected WhatsApp has banned the account.",
    figures: rejected,
    press: ["log-in"],
  },
];

test.each(rows)(
  "$code stops logins, also after a restart, until its end or until an operator acts; then the message arrives once",
  async ({ code, mood, kind, says, figures, press }) => {
    const first = await startOpen();
    platform.behave(mood);
    const { logins } = platform.sockets;
    platform.disconnect("drop");
    await expect.poll(() => first.findWhatsApp()?.state()).toMatchObject({ kind, code });
    const { id } = await submit(first, {});
    expect(await (await openConsole(first)).read()).toContain(says);
    expect(await figuresOf(first)).toEqual(figures);
    await expect.poll(() => sql`select hold_code from messaging.control`).toEqual([{ hold_code: code }]);
    await first.stop();

    const second = await start();
    await expect.poll(() => second.findWhatsApp()?.state()).toMatchObject({ kind, code });
    expect((await stateOf(second, id)).status).toBe("PENDING");
    expect([platform.sockets.logins - logins, platform.arrivalsOf(id)]).toEqual([1, 0]);

    platform.behave({ receipts: ["read"], minRevision: mood.minRevision ?? 0 });
    if (press) {
      await (await openConsole(second)).press(...press);
      await untilKind(second, "open");
      await eventually(second, id, "READ");
    } else {
      await second.stop();
      await sql`update messaging.control set hold_until = now()`;
      const third = await start();
      await untilKind(third, "open");
      await eventually(third, id, "READ");
    }
    expect([platform.sockets.logins - logins, platform.arrivalsOf(id)]).toEqual([2, 1]);
    expect(platform.pageReads).toBe(code === 405 ? 1 : 0);
  },
);

test.each([
  ["428", "disconnect", 428],
  ["500", "disconnect", 500],
  ["503", "disconnect", 503],
  ["515", "disconnect", 515],
  ["500 at the login", "loginFailure", 500],
  ["503 at the login", "loginFailure", 503],
  ["402 that expires", "loginFailure", 402],
] as const)("%s is followed by a new login, and the message arrives once", async (_, how, code) => {
  const task = await startOpen();
  if (how === "loginFailure")
    platform.behave({ receipts: ["read"], loginFailure: { code, expireSeconds: 1, logins: 1 } });
  const { logins } = platform.sockets;
  platform.disconnect(how === "loginFailure" ? "drop" : code);
  await expect.poll(() => platform.sockets.logins).toBeGreaterThan(logins);
  const { id } = await submit(task, {});
  await untilKind(task, "open");
  await eventually(task, id, "READ");
  expect([platform.arrivalsOf(id), platform.pageReads]).toEqual([1, 0]);
});

test.each([
  ["409 at the login", { loginFailure: { code: 409 } }, "drop", "rejects the messenger's user agent"],
  ["411", {}, 411, "does not support linked devices"],
] as const)("%s is retried after minutes, and the console says why", async (_, mood, reason, says) => {
  const task = await startOpen();
  platform.behave(mood);
  platform.disconnect(reason);
  await expect
    .poll(() => task.findWhatsApp()?.state())
    .toMatchObject({ kind: "closed", code: expect.any(Number) });
  const console = await openConsole(task);
  await expect.poll(console.read).toContain(says);
  const state = task.findWhatsApp()?.state();
  expect(state?.kind === "closed" && state.retryAt && +state.retryAt - +state.since).toBeGreaterThan(290_000);
});

describe("a version that is too old", () => {
  test("is replaced by the one that the platform's page names, also after a restart", async () => {
    const first = await startOpen();
    platform.behave({ minRevision: newer, webRevision: newer });
    platform.disconnect("drop");
    await expect.poll(() => platform.pageReads).toBe(1);
    await untilKind(first, "open");
    await first.stop();
    const second = await start();
    await untilKind(second, "open");
    expect(platform.pageReads).toBe(1);
  });

  test.each([
    ["no newer version", { minRevision: newer, webRevision: ownVersion[2] }],
    ["a version that is rejected too", { minRevision: newer + 1, webRevision: newer }],
  ])("stops logins after one look at a page with %s", async (_, mood) => {
    const task = await startOpen();
    platform.behave(mood);
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    expect(platform.pageReads).toBe(1);
    const page = await (await openConsole(task)).press("version", { version: "2.3000.1" });
    expect(page).toContain("The version was not set");
    expect(task.findWhatsApp()?.state().kind).toBe("stopped");
  });
});

describe("a link that the platform has removed", () => {
  const archived = async () => (await sql`select distinct archived_at from messaging.auth_archive`).length;

  test("is tried once more if the operator wants it, and paired again by another button", async () => {
    const task = await startOpen();
    platform.disconnect(401);
    await untilKind(task, "stopped");
    const { logins } = platform.sockets;
    const console = await openConsole(task);
    expect(await console.read()).toMatch(/Try the old link again.* Pair again/);
    await console.press("old-link");
    await expect.poll(() => platform.sockets.logins - logins).toBe(1);
    await untilKind(task, "stopped");
    expect([platform.sockets.logins - logins, await archived()]).toEqual([1, 1]);
    const { id } = await submit(task, {});
    expect(await console.press("log-in")).toContain("Connecting to WhatsApp");
    await untilOpen(task);
    await eventually(task, id, "READ");
    expect(await sql`select hold_code from messaging.control`).toEqual([{ hold_code: null }]);
  });

  test("is one of at most two in the archive, which contains no plaintext key", async () => {
    const task = await startOpen();
    const console = await openConsole(task);
    for (let times = 1; times <= 3; times++) {
      platform.disconnect(401);
      await untilKind(task, "stopped");
      expect(await archived()).toBe(Math.min(times, 2));
      await console.press("log-in");
      await untilOpen(task);
    }
    const values = await sql<{ value: Buffer }[]>`select value from messaging.auth_archive`;
    for (const { value } of values) expect(value.toString("latin1")).not.toMatch(/private|public|62811/);
  });

  test("can be tried again while a phone is awaited, such as when that demands a passkey", async () => {
    const task = await startOpen();
    platform.behave({ receipts: ["read"], loginFailure: { code: 401, logins: 1 } });
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    const console = await openConsole(task);
    await console.press("log-in");
    await untilKind(task, "pairing");
    expect(await console.press("old-link")).toContain("Trying the old link once");
    await untilKind(task, "open");
    const { id } = await submit(task, {});
    await eventually(task, id, "READ");
  });

  test("cannot be tried when none is archived, and pairing goes on", async () => {
    const task = await start();
    await untilKind(task, "pairing");
    expect(await (await openConsole(task)).press("old-link")).toContain("No old link is archived");
    await untilOpen(task);
  });

  test("can be unlinked by the operator as well, which pairs at once", async () => {
    const task = await startOpen();
    platform.behave({ loginFailure: { code: 403, logins: 1 } });
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    await (await openConsole(task)).press("unlink", { confirmation: "unlink" });
    await untilKind(task, "pairing");
    expect([await archived(), await sql`select hold_code from messaging.control`]).toEqual([
      0,
      [{ hold_code: null }],
    ]);
  });
});

test("a passkey that is demanded while linking shows in the console and the figures", async () => {
  platform.behave({ passkey: true });
  const task = await start();
  await untilKind(task, "pairing");
  const state = task.findWhatsApp()?.state();
  await expect(platform.scan(state?.kind === "pairing" ? state.qr : "")).rejects.toThrow("passkey");
  const console = await openConsole(task);
  await expect
    .poll(console.read, { timeout: 5_000 })
    .toContain("Passkey demanded WhatsApp demands the account's passkey");
  expect(await figuresOf(task)).toEqual({ connected: 0, unlinked: 1, rejected: 0, passkey: 1 });
});
