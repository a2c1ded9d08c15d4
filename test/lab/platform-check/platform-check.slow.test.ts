import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ownVersion } from "#lib/channels/whatsapp/link/web-version.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import { type Platform, startPlatform } from "../../../infra/local/whatsapp/platform.ts";
import { callCommand } from "../../steps/command.ts";
import { createDatabase } from "../../steps/temporary-database.ts";
import { type CheckOptions, checkPlatform } from "./check.ts";

const account = "6281100000001";
const own = "6281200000007";
const stranger = "6281200000008";

const startFake = async (): Promise<Platform> => {
  const platform = await startPlatform({ account, phones: [own, stranger] });
  onTestFinished(() => platform.stop());
  return platform;
};

const settingsOf = ({ url, rootKey, mediaCa }: Platform) => ({
  url,
  rootKey,
  mediaCa,
  answerTimeoutMs: 5_000,
  reconnection: { minMs: 20, maxMs: 200, stableMs: 60_000 },
});

/** Runs the check with an operator who scans the code and writes when asked to. */
const check = async (platform: Platform, changes: Partial<CheckOptions> = {}, writer = own) => {
  const database = await createDatabase();
  return checkPlatform({
    sql: database.connect("messengerUrl"),
    settings: settingsOf(platform),
    number: own,
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    onQr: (qr) => void platform.scan(qr),
    onPairingCode: (code) => void platform.enterCode(code),
    onWrite: () => void platform.write(writer, "here I am"),
    ...changes,
  });
};

type Rows = Awaited<ReturnType<typeof check>>;
const outcomes = (rows: Rows) => Object.fromEntries(rows.map(({ step, outcome }) => [step, outcome]));
const failed = (rows: Rows) => rows.filter(({ outcome }) => outcome === "failed");
const received = (platform: Platform) =>
  platform.phones.flatMap(({ number, inbox }) => inbox.map(({ type }) => [number, type]));

const allPassed = {
  Link: "passed",
  "Own number": "passed",
  "Send text": "passed",
  "Send image": "passed",
  "Send file": "passed",
  "Receipt for text": "passed",
  "Receipt for image": "passed",
  "Receipt for file": "passed",
  "Readable at once": "passed",
  Account: "passed",
  Contact: "passed",
  Unlink: "passed",
};

test("a working platform passes every step, and the own number alone gets one message of each kind", async () => {
  const platform = await startFake();
  const rows = await check(platform);
  expect(outcomes(rows)).toEqual(allPassed);
  expect(received(platform)).toEqual([
    [own, "extendedTextMessage"],
    [own, "imageMessage"],
    [own, "documentMessage"],
  ]);
  expect(rows.filter(({ step }) => step === "Account" || step === "Contact")).toEqual([
    expect.objectContaining({ seen: expect.stringContaining("on a LID") }),
    expect.objectContaining({ seen: expect.stringContaining("on a LID") }),
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/\d{8}/);
  await platform.until(() => platform.sockets.open === 0);
  expect(platform.faults).toEqual([]);
});

test.each<[string, FailureModes, Record<string, string>, string]>([
  [
    "rejects a message",
    { nack: { code: 463, messages: 1 } },
    { "Send text": "failed", "Receipt for text": "skipped" },
    "rejected with code 463",
  ],
  [
    "does not answer",
    { ack: false, receipts: [] },
    {
      ...{ "Send text": "failed", "Send image": "failed", "Send file": "failed" },
      ...{ "Receipt for text": "skipped", "Receipt for image": "skipped", "Receipt for file": "skipped" },
    },
    "channel failure: no-answer",
  ],
  [
    "accepts no media",
    { mediaHosts: [500] },
    {
      ...{ "Send image": "failed", "Send file": "failed" },
      ...{ "Receipt for image": "skipped", "Receipt for file": "skipped" },
    },
    "channel failure: upload-failed",
  ],
  ["garbles a message", { askAgain: 1 }, { "Readable at once": "failed" }, "asked 1 times"],
])(
  "a platform that %s fails the steps that it breaks, and the link is removed",
  async (_, failureMode, changed, seen) => {
    const platform = await startFake();
    platform.behave(failureMode);
    const rows = await check(platform);
    expect(outcomes(rows)).toEqual({ ...allPassed, ...changed });
    expect(failed(rows)[0]?.seen).toContain(seen);
  },
);

test("a platform that delivers nothing fails the receipts", async () => {
  const platform = await startFake();
  platform.behave({ receipts: [] });
  const interrupted = new AbortController();
  const checking = check(platform, { signal: interrupted.signal });
  await platform.until(() => platform.phone(own).inbox.length === 3, 60_000);
  interrupted.abort();
  const rows = await checking;
  expect(failed(rows).map(({ step, seen }) => [step, seen])).toEqual(
    expect.arrayContaining([["Receipt for text", "none before the time limit"]]),
  );
  expect(outcomes(rows).Unlink).toBe("passed");
});

test("a platform that lets nobody log in fails the link, with its code, and nothing else is tried", async () => {
  const platform = await startFake();
  platform.behave({ loginFailure: { code: 405 } });
  const rows = await check(platform, { timeoutMs: 2_000 });
  expect(failed(rows)).toEqual([
    expect.objectContaining({
      step: "Link",
      seen: "not linked, stopped with code 405, before the time limit",
    }),
  ]);
  expect(rows.filter(({ outcome }) => outcome === "skipped")).toHaveLength(rows.length - 1);
});

test.each([
  ["from which nobody wrote, although somebody else did", { timeoutMs: 4_000 }, stranger],
  ["which is the linked account's", { number: account }, account],
])("nothing is sent to a number %s", async (_, changes, writer) => {
  const platform = await startFake();
  const rows = await check(platform, changes, writer);
  expect(failed(rows).map(({ step }) => step)).toEqual(["Own number"]);
  expect(outcomes(rows)).toMatchObject({ "Send text": "skipped", "Send file": "skipped", Unlink: "passed" });
  expect([received(platform), platform.account.inbox]).toEqual([[], []]);
});

test("an account that is linked after the time limit of the link is unlinked on the phone, but gets nothing", async () => {
  const platform = await startFake();
  const interrupted = new AbortController();
  const checking = check(platform, {
    signal: interrupted.signal,
    onQr: async (qr) => {
      await platform.scan(qr);
      platform.behave({ loginFailure: { code: 503 } });
    },
  });
  // the first login links
  await platform.until(() => platform.sockets.logins > 1, 60_000);
  interrupted.abort();
  platform.behave({});
  const rows = await checking;
  expect(outcomes(rows)).toMatchObject({ Link: "failed", "Send text": "skipped", Unlink: "passed" });
  expect(await platform.write(own, "to every device")).toEqual([]);
});

test("a device that the platform cannot remove is reported", async () => {
  const platform = await startFake();
  const rows = await check(platform, { timeoutMs: 6_000, onWrite: () => platform.leave() });
  expect(failed(rows).at(-1)).toMatchObject({
    step: "Unlink",
    seen: "not confirmed: remove the device on the phone, under Linked devices",
  });
});

const load = () => import("./platform-check.ts");

test("the command links by pairing code, prints the table without numbers, and exits with 3 if a row failed", async () => {
  const platform = await startFake();
  const folder = mkdtempSync(join(tmpdir(), "platform-check-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/ca.pem`, platform.mediaCa);
  const newer = ownVersion[2] + 1;
  platform.behave({ nack: { code: 479, messages: 1 }, minRevision: newer, webRevision: newer });
  const args = ["--number", own, "--account", account, "--url", platform.url, "--timeout", "60"];
  args.push("--version-url", platform.versionUrl);
  const rest = ["--root-key", platform.rootKey.toString("base64"), "--media-ca", `${folder}/ca.pem`];
  const log = vi.spyOn(console, "log");
  const running = callCommand(load, { LOG_LEVEL: "error" }, ...args, ...rest);
  const find = (pattern: RegExp) => pattern.exec(log.mock.calls.flat().join("\n"));
  const poll = { timeout: 100_000 };
  await expect.poll(() => find(/Type (\w+):/)?.[1], poll).toBeDefined();
  // the client shows the code without waiting for the platform
  await platform.until(() => platform.codeAwaited);
  await platform.enterCode(find(/Type (\w+):/)?.[1] ?? "");
  await expect.poll(() => find(/Now write/), poll).not.toBeNull();
  await platform.write(own, "here I am");
  const { status, out, errors } = await running;
  expect([status, errors]).toEqual([3, ""]);
  expect(out).toMatch(/✗ Send text +WhatsApp accepts it +rejected with code 479\n/);
  expect(out).toMatch(/✓ Send file +WhatsApp accepts it +accepted, \d+\.\d s\n/);
  expect(out).toMatch(/– Receipt for text +the phone has it +not checked\n/);
  expect(out).not.toMatch(/\d{8}/);
  expect(platform.pageReads).toBe(1);
});

test.each([
  [["--number", "081234567890"], /--number: phone must be a number with country code/],
  [["--number", own, "--account", "x"], /--account: phone must be/],
  [["--number", own, "--timeout", "0"], /--timeout must be a whole number from 1 to 9999, not 0/],
  [["--number", own, stranger], /Too many arguments\. Expected 0 arguments but got 1/],
  [["--url", "ws://127.0.0.1:9"], /Required option '--number <number>' not specified/],
])("the command starts nothing with %j", async (args, message) => {
  const { status, errors } = await callCommand(load, {}, ...args);
  expect([status, errors]).toEqual([2, expect.stringMatching(message)]);
});
