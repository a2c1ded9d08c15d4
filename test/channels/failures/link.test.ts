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
import { figuresOf } from "./link-metrics.ts";

stageEachTest();

describe("a link that the platform has removed", () => {
  test("has no keys any more, and is paired again once the operator wants it", async () => {
    const task = await startOpen();
    platform.disconnect(401);
    await untilKind(task, "stopped");
    expect(await sql`select from messaging.auth_key`).toEqual([]);
    const console = await openConsole(task);
    expect(await console.read()).toMatch(/Pair again/);
    const { id } = await submit(task, {});
    expect(await console.press("log-in")).toContain("Connecting to WhatsApp");
    await untilOpen(task);
    await eventually(task, id, "READ");
    expect(await sql`select hold_code from messaging.account`).toEqual([{ hold_code: null }]);
  });

  test("can be unlinked by the operator as well, which pairs at once", async () => {
    const task = await startOpen();
    platform.behave({ loginFailure: { code: 403, logins: 1 } });
    platform.disconnect("drop");
    await untilKind(task, "stopped");
    await (await openConsole(task)).press("unlink", { confirmation: "unlink" });
    await untilKind(task, "pairing");
    expect(await sql`select hold_code from messaging.account`).toEqual([{ hold_code: null }]);
  });
});

describe("a passkey that is demanded while linking", () => {
  const banner = "Passkey required WhatsApp requires the account's passkey";
  /** Scans the code of a task that pairs. */
  const scan = async (task: Task) => {
    await untilKind(task, "pairing");
    const state = task.findLeadership()?.whatsApp?.state();
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
    await task.findLeadership()?.whatsApp?.unlink();
    await untilKind(task, "pairing");
    expect(await console.read()).not.toContain(banner);
  });

  test("shows no more once a phone was linked, even if its link is removed later", async () => {
    platform.behave({ passkey: true });
    const task = await start();
    const console = await scan(task);
    const { logins } = platform.sockets;
    platform.behave({});
    platform.leave();
    platform.comeBack();
    await platform.until(() => platform.sockets.logins > logins, 30_000);
    await untilOpen(task);
    platform.disconnect(401);
    await untilKind(task, "stopped");
    await console.press("log-in");
    await untilKind(task, "pairing");
    expect(await console.read()).not.toContain(banner);
  });
});
