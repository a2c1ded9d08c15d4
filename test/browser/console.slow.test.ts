import type { Page } from "playwright-core";
import { create } from "qrcode";
import sharp from "sharp";
import { expect, test } from "vitest";
import { pageNames } from "#lib/console/page.ts";
import type { ConsoleState } from "#lib/console/state.ts";
import { ago, connected, pairing, qrText } from "../steps/console-state.ts";
import { openAt, openLoggedIn, stageBrowser } from "./console-pages.ts";

stageBrowser();

const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

const now = () => new Date().toISOString();
const states: [string, ConsoleState, string[]][] = [
  ["open", connected(), ["Connected", "6281•••••••77", "Sending is on.", "Pause sending", "12", "UNCERTAIN"]],
  ["paused", { ...connected(), paused: true }, ["Paused", "Sending is paused", "Resume sending"]],
  ["pairing", pairing(), ["Not linked", "Link a phone", "Get pairing code"]],
  [
    "pairing without a code yet",
    { ...connected(), connection: { kind: "pairing", since: now() } },
    ["Waiting for a QR code from WhatsApp"],
  ],
  ["connecting", { ...connected(), connection: { kind: "connecting", since: now() } }, ["Connecting"]],
  [
    "just closed",
    { ...connected(), connection: { kind: "closed", since: now() } },
    ["Connecting", "It is being tried now"],
  ],
  [
    "closed",
    { ...connected(), connection: { kind: "closed", since: ago(60).toISOString() } },
    ["Not connected", "WhatsApp or the network is down"],
  ],
  [
    "replaced",
    { ...connected(), connection: { kind: "replaced", since: now() } },
    ["Replaced", "Another program uses this WhatsApp link"],
  ],
  [
    "unlinked by WhatsApp",
    { ...connected(), connection: { kind: "stopped", since: now(), answer: 401 } },
    ["Unlinked", "WhatsApp has removed the link", "Pair again"],
  ],
  [
    "banned for a time",
    { ...connected(), connection: { kind: "closed", since: now(), answer: 402, retryAt: now() } },
    ["Banned", "The messenger does not try to log in before"],
  ],
  [
    "locked",
    { ...connected(), connection: { kind: "stopped", since: now(), answer: 403 } },
    ["Rejected", "WhatsApp has locked the account", "Connect again"],
  ],
  [
    "too old",
    { ...connected(), connection: { kind: "stopped", since: now(), answer: 405 } },
    ["Rejected", "Connect again"],
  ],
  [
    "asked for a passkey",
    { ...pairing(), connection: { ...pairing().connection, passkey: true } },
    ["Passkey required", "Do not scan again and again."],
  ],
  ["standby", { ...connected(), leader: false }, ["Standby", "Another task is the leader"]],
  [
    "without the database",
    { ...connected(), queue: [], messages: [], runs: [], unread: "unavailable" },
    ["The database is unavailable", "Connected", "unknown", "Messages are unavailable"],
  ],
  [
    "without any message or run",
    { ...connected(), queue: [], messages: [], runs: [] },
    ["No messages yet.", "No runs with recipients yet."],
  ],
  [
    "senders and callbacks",
    connected(),
    ["1,204 of 5,000", "18.4 MB of 50 MB", "2 active, the last until", "events.city.example"],
  ],
  [
    "without senders and callbacks",
    { ...connected(), terms: [], callbacks: [] },
    ["No senders yet.", "No sender has an address for callbacks."],
  ],
  [
    "runs of jobs",
    connected(),
    ["appointment-reminder", "9800 accepted", "197 opted out", "3 rejected", "11 PENDING", "(42P01)"],
  ],
];

test("shows every state, at 360 pixels without scrolling sideways, light and dark", async () => {
  const { page, messenger } = await openLoggedIn(connected(), { width: 360 });
  for (const [index, [name, state, texts]] of states.entries()) {
    messenger.state = state;
    await page.emulateMedia({ colorScheme: index % 2 ? "dark" : "light" });
    let shown = "";
    for (const at of pageNames) {
      await openAt(page, at);
      shown += await page.locator("main").innerText();
      expect(await overflow(page), `${name} at ${at}`).toBe(0);
    }
    for (const text of texts) expect(shown, name).toContain(text);
  }
});

test("updates the state without a reload, and preserves typed text", async () => {
  const { page, messenger } = await openLoggedIn(pairing());
  await page.getByLabel("Phone number").fill("62812");
  const before = await page.locator(".qr path").last().getAttribute("d");
  messenger.state = { ...pairing(), connection: { ...pairing().connection, qr: `${qrText}2` } };
  await expect.poll(() => page.locator(".qr path").last().getAttribute("d")).not.toBe(before);
  expect(await page.getByLabel("Phone number").inputValue()).toBe("62812");
  expect(await page.evaluate("document.activeElement.id")).toBe("phone");
  messenger.state = connected();
  await page.locator(".headline", { hasText: "Connected" }).waitFor();
  expect(await page.locator("#linking").isVisible()).toBe(false);
  await openAt(page, "messages");
  const [first] = messenger.state.messages;
  if (!first) throw new Error("no message");
  messenger.state = { ...messenger.state, messages: [{ ...first, id: "NEW" }, ...messenger.state.messages] };
  await page.locator("#message-NEW").waitFor();
  expect(await page.locator("#messages tbody tr").count()).toBe(9);
  expect(await page.locator("#messages tbody tr").first().getAttribute("id")).toBe("message-NEW");
});

test("exposes the table of runs to screen readers, on narrow screens too", async () => {
  const { page } = await openLoggedIn(connected(), { width: 360 }, "runs");
  const table = page.getByRole("table", { name: "Notification jobs" });
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual([
    "State",
    "Job",
    "Scheduled",
    "Recipients",
    "Messages",
  ]);
  const row = table.getByRole("row", { name: "appointment-reminder" });
  expect(await row.getByRole("cell").count()).toBe(5);
  expect(await row.getByRole("listitem").allInnerTexts()).toEqual([
    "9800 accepted",
    "197 opted out",
    "3 rejected",
    "11 PENDING",
    "1 SENDING",
    "40 SENT",
    "9691 DELIVERED",
    "55 READ",
    "2 FAILED",
  ]);
});

test.each(["light", "dark"] as const)("shows the QR code, %s", async (scheme) => {
  const { page } = await openLoggedIn(pairing(), { scheme });
  const screenshot = sharp(await page.locator(".qr").screenshot())
    .removeAlpha()
    .greyscale();
  const picture = await screenshot.raw().toBuffer({ resolveWithObject: true });
  const { size, data } = create(qrText, { errorCorrectionLevel: "L" }).modules;
  // the rendered picture, sampled in the middle of each module, quiet zone included
  const side = size + 8;
  const { width } = picture.info;
  const step = width / side;
  const wrong: string[] = [];
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const brightness = picture.data[Math.floor((y + 0.5) * step) * width + Math.floor((x + 0.5) * step)];
      const isInside = x >= 4 && y >= 4 && x < size + 4 && y < size + 4;
      const expected = isInside && data[(y - 4) * size + x - 4] === 1 ? 0 : 255;
      if (brightness !== expected) wrong.push(`${x},${y}`);
    }
  expect(wrong).toEqual([]);
  expect(await page.getByRole("img", { name: "QR code that links a phone" }).count()).toBe(1);
});
