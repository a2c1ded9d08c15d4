import { describe, expect, test } from "vitest";
import type { Task } from "#lib/messenger/task.ts";
import {
  eventually,
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
import { figuresOf } from "./link-figures.ts";

stageEachTest();

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
    expect(await sql`select hold_code from messaging.account`).toEqual([{ hold_code: null }]);
  });

  test("is the only one in the archive, which contains no plaintext key", async () => {
    const task = await startOpen();
    const console = await openConsole(task);
    for (let times = 1; times <= 3; times++) {
      platform.disconnect(401);
      await untilKind(task, "stopped");
      expect(await archived()).toBe(1);
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
    expect([await archived(), await sql`select hold_code from messaging.account`]).toEqual([
      0,
      [{ hold_code: null }],
    ]);
  });

  test("cannot replace one that was linked later, such as from an old page", async () => {
    const task = await startOpen();
    platform.disconnect(401);
    await untilKind(task, "stopped");
    const console = await openConsole(task);
    await console.press("log-in");
    await untilOpen(task);
    platform.behave({ receipts: ["read"], loginFailure: { code: 403, logins: 1 } });
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    expect(await console.press("old-link")).toContain("The old link was not tried: a phone is linked");
    expect([task.findWhatsApp()?.state(), await archived()]).toEqual([
      expect.objectContaining({ kind: "stopped", code: 403 }),
      1,
    ]);
    await console.press("log-in");
    await untilKind(task, "open");
  });

  test("is restored once, and reported twice, if the button is pressed twice", async () => {
    const task = await startOpen();
    platform.behave({ loginFailure: { code: 401, logins: 1 } });
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    const whatsApp = task.findWhatsApp();
    expect(await Promise.all([whatsApp?.restoreLink(), whatsApp?.restoreLink()])).toEqual([true, true]);
    await untilKind(task, "open");
  });
});

describe("a passkey that is demanded while linking", () => {
  const banner = "Passkey required WhatsApp requires the account's passkey";
  /** Scans the code of a task that pairs. */
  const scan = async (task: Task) => {
    await untilKind(task, "pairing");
    const state = task.findWhatsApp()?.state();
    await expect(platform.scan(state?.kind === "pairing" ? state.qr : "")).rejects.toThrow("passkey");
    const console = await openConsole(task);
    await expect.poll(console.read, { timeout: 5_000 }).toContain(banner);
    return console;
  };

  test("shows in the console and the figures", async () => {
    platform.behave({ passkey: true });
    const task = await start();
    await scan(task);
    expect(await figuresOf(task)).toEqual({
      connected: 0,
      unlinked: 1,
      rejected: 0,
      disconnected: 0,
      passkey: 1,
    });
  });

  test("shows until the operator acts, also with the new codes after WhatsApp has rejected the old ones", async () => {
    platform.behave({ passkey: true });
    const task = await start();
    const console = await scan(task);
    const { logins } = platform.sockets;
    platform.behave({ passkey: true, loginFailure: { code: 401, logins: 1 } });
    platform.leave();
    platform.comeBack();
    await platform.until(() => platform.sockets.logins > logins + 1, 30_000);
    await untilKind(task, "pairing");
    expect(await console.read()).toContain(banner);
    await task.findWhatsApp()?.unlink();
    await untilKind(task, "pairing");
    expect(await console.read()).not.toContain(banner);
  });

  test("shows no more once the old link was tried, even if that fails", async () => {
    const task = await startOpen();
    platform.disconnect(401);
    await untilKind(task, "stopped");
    platform.behave({ passkey: true });
    await (await openConsole(task)).press("log-in");
    const console = await scan(task);
    await console.press("old-link");
    await untilKind(task, "stopped");
    await console.press("log-in");
    await untilKind(task, "pairing");
    expect(await console.read()).not.toContain(banner);
  });
});
