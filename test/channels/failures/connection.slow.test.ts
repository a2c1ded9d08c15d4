import { createServer } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ownVersion } from "#lib/channels/whatsapp/link/web-version.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { log } from "#lib/log.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { listenOnLoopback } from "../../../infra/local/loopback.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import { failNextWrite } from "../../fleet/next-write.ts";
import {
  database,
  openConsole,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  submit,
  untilKind,
  untilOpen,
} from "../../fleet/running-task.ts";
import { expectShown, type Shown } from "./expect-shown.ts";
import { figuresOf } from "./link-metrics.ts";

stageEachTest();

const newer = ownVersion[2] + 1;
const newerText = `2.3000.${newer}`;

const rejected = { connected: 0, unlinked: 0, rejected: 1, disconnected: 0, passkey: 0 };
const unlinked = { connected: 0, unlinked: 1, rejected: 0, disconnected: 0, passkey: 0 };

const waits: Shown = { status: "PENDING", frames: 0, console: /its account is not connected/, metrics: {} };
const arrives: Shown = { status: "READ", frames: 1, metrics: { sent: 1 } };

interface Row {
  readonly code: number;
  readonly failureMode: FailureModes;
  readonly kind: "closed" | "stopped";
  readonly says: string;
  /** The console's alert. */
  readonly alert: string;
  readonly figures: object;
  /** What the operator presses once the platform accepts logins again; undefined: its time is over. */
  readonly press?: string;
  /** What is configured before the next start. */
  readonly settings?: WhatsAppSettings;
}

const rows: readonly Row[] = [
  {
    code: 401,
    failureMode: { loginFailure: { code: 401 } },
    kind: "stopped",
    says: "Unlinked WhatsApp has removed the link",
    alert: "unlinked",
    figures: unlinked,
    press: "log-in",
  },
  {
    code: 402,
    // other than the hour that a ban without an end lasts
    failureMode: { loginFailure: { code: 402, expireSeconds: 7_200 } },
    kind: "closed",
    says: "Banned WhatsApp has temporarily banned the account. The messenger does not try to log in before",
    alert: "banned",
    figures: rejected,
  },
  {
    code: 403,
    failureMode: { loginFailure: { code: 403 } },
    kind: "stopped",
    says: "Rejected WhatsApp has locked the account.",
    alert: "stopped",
    figures: rejected,
    press: "log-in",
  },
  {
    code: 405,
    failureMode: { minRevision: newer },
    kind: "stopped",
    says: "Rejected WhatsApp rejects the version",
    alert: "stopped",
    figures: rejected,
    settings: { webVersion: newerText },
    press: "log-in",
  },
  {
    code: 406,
    failureMode: { loginFailure: { code: 406 } },
    kind: "stopped",
    says: "Rejected WhatsApp has banned the account.",
    alert: "stopped",
    figures: rejected,
    press: "log-in",
  },
];

test.each(rows)(
  "$code stops logins, also after a restart, until its end or until an operator acts; then the message arrives once",
  async ({ code, failureMode, kind, says, alert, figures, press, settings }) => {
    const first = await startOpen();
    platform.behave(failureMode);
    const { logins } = platform.sockets;
    platform.disconnect("drop");
    await expect.poll(() => first.findLeadership()?.whatsApp?.state()).toMatchObject({ kind, code });
    const { id } = await submit(first, {});
    expect(await (await openConsole(first)).read()).toContain(says);
    await expectShown(first, id, { ...waits, alerts: [alert] });
    const state = first.findLeadership()?.whatsApp?.state();
    if (state?.kind === "closed")
      expect(state.retryAt && +state.retryAt - +state.since).toBeGreaterThan(7_190_000);
    expect(await figuresOf(first)).toEqual(figures);
    await expect.poll(() => sql`select hold_code from messaging.account`).toEqual([{ hold_code: code }]);
    await first.stop();

    const second = await start(noPace, settings);
    await expect.poll(() => second.findLeadership()?.whatsApp?.state()).toMatchObject({ kind, code });
    await expectShown(second, id, { ...waits, alerts: [alert] });
    expect(platform.sockets.logins - logins).toBe(1);

    platform.behave({ receipts: ["read"], minRevision: failureMode.minRevision ?? 0 });
    if (press) {
      await (await openConsole(second)).press(press);
      await untilOpen(second);
      await expectShown(second, id, arrives);
    } else {
      await second.stop();
      await sql`update messaging.account set hold_until = now()`;
      const third = await start();
      await untilKind(third, "open");
      await expectShown(third, id, arrives);
    }
    // pairing takes two
    expect(platform.sockets.logins - logins).toBe(code === 401 ? 3 : 2);
    expect(platform.pageReads).toBe(code === 405 ? 1 : 0);
  },
);

test.each([
  ["428", "disconnect", 428],
  ["440", "disconnect", 440],
  ["500", "disconnect", 500],
  ["503", "disconnect", 503],
  ["515", "disconnect", 515],
  ["500 at the login", "loginFailure", 500],
  ["503 at the login", "loginFailure", 503],
  ["402 that expires", "loginFailure", 402],
] as const)("%s is followed by a new login, and the message arrives once", async (_, how, code) => {
  const task = await start(noPace, { reclaimMs: 100 });
  await untilOpen(task);
  if (how === "loginFailure")
    platform.behave({ receipts: ["read"], loginFailure: { code, expireSeconds: 1, logins: 1 } });
  const { logins } = platform.sockets;
  platform.disconnect(how === "loginFailure" ? "drop" : code);
  await expect.poll(() => platform.sockets.logins).toBeGreaterThan(logins);
  const { id } = await submit(task, {});
  await untilKind(task, "open");
  await expectShown(task, id, { ...arrives, metrics: { sent: 1, reconnects: 1 } });
  expect(platform.pageReads).toBe(0);
});

test.each([
  ["409 at the login", { loginFailure: { code: 409 } }, "drop", "rejects the messenger's user agent"],
  ["411", {}, 411, "does not support linked devices"],
] as const)("%s is retried after minutes, and the console says why", async (_, failureMode, reason, says) => {
  const task = await startOpen();
  platform.behave(failureMode);
  platform.disconnect(reason);
  await expect
    .poll(() => task.findLeadership()?.whatsApp?.state())
    .toMatchObject({ kind: "closed", code: expect.any(Number) });
  const console = await openConsole(task);
  await expect.poll(console.read).toContain(says);
  await expectShown(task, (await submit(task, {})).id, { ...waits, alerts: ["disconnected"] });
  expect(await figuresOf(task)).toEqual({
    connected: 0,
    unlinked: 0,
    rejected: 0,
    disconnected: 1,
    passkey: 0,
  });
  const state = task.findLeadership()?.whatsApp?.state();
  expect(state?.kind === "closed" && state.retryAt && +state.retryAt - +state.since).toBeGreaterThan(290_000);
});

describe("a version that is too old", () => {
  test("is replaced by the one that the platform's page names, also after a restart", async () => {
    const first = await startOpen();
    platform.behave({ minRevision: newer, webRevision: newer });
    platform.disconnect("drop");
    await expect.poll(() => platform.pageReads).toBe(1);
    await untilKind(first, "open");
    platform.disconnect("drop");
    await untilKind(first, "open");
    expect(platform.pageReads).toBe(1);
    await first.stop();
    const second = await start();
    await untilKind(second, "open");
    expect(platform.pageReads).toBe(2);
  });

  test("is replaced by the one of the stage's configuration, unless the library's is newer", async () => {
    platform.behave({ minRevision: newer });
    const first = await start(noPace, { webVersion: newerText });
    await untilOpen(first);
    await first.stop();
    platform.behave({ minRevision: ownVersion[2] });
    const second = await start(noPace, { webVersion: "2.3000.1" });
    await untilKind(second, "open");
    expect(platform.pageReads).toBe(0);
  });

  test.each([
    ["no newer version", { minRevision: newer, webRevision: ownVersion[2] }],
    ["a version that is rejected too", { minRevision: newer + 1, webRevision: newer }],
  ])("stops logins after one look at a page with %s", async (_, failureMode) => {
    const task = await startOpen();
    platform.behave(failureMode);
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    expect(platform.pageReads).toBe(1);
  });

  test("is not looked up any more once the operator unlinks", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const silent = createServer(() => resolve());
    const { address, stop } = await listenOnLoopback(silent);
    onTestFinished(() => stop());
    const task = await start(noPace, { versionUrl: `http://${address}/sw.js` });
    await untilOpen(task);
    platform.behave({ minRevision: newer });
    platform.disconnect("drop");
    await asked;
    platform.behave({});
    const warn = vi.spyOn(log, "warn");
    onTestFinished(() => warn.mockRestore());
    await task.findLeadership()?.whatsApp?.unlink();
    await untilKind(task, "pairing");
    // a look-up that nobody ends gives up by itself, with a TimeoutError
    const error = expect.objectContaining({ name: "AbortError" });
    expect(warn).toHaveBeenCalledWith("cannot read the current version of the web client", { error });
  });
});

test("logins that are resumed before their hold is stored are not held at the next start", async () => {
  const task = await startOpen();
  await failNextWrite(database.admin, { table: "account", when: "new.hold_code is not null" });
  platform.behave({ receipts: ["read"], loginFailure: { code: 403, logins: 1 } });
  platform.disconnect("drop");
  await untilKind(task, "stopped");
  await task.findLeadership()?.whatsApp?.logins.resume();
  await untilKind(task, "open");
  expect(await sql`select hold_code from messaging.account`).toEqual([{ hold_code: null }]);
});
