import type { Browser, Page } from "playwright-core";
import { create } from "qrcode";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ConsoleState } from "#lib/messenger/console/state.ts";
import { connected, createConsole, operator, pairing, qrText } from "../steps/console.ts";
import { launchBrowser } from "./browser.ts";

let browser: Browser;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ browser, close } = await launchBrowser());
});
afterAll(() => close?.());

beforeEach(() => {
  const spy = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => spy.mockRestore());
});

/** Opens a console in a page; the test fails if it requests another origin or logs an error. */
const open = async (options: { width?: number; scheme?: "light" | "dark" } = {}) => {
  const { server, messenger } = createConsole();
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1_024, height: 800 },
    colorScheme: options.scheme ?? "light",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(8_000);
  const seen = { elsewhere: [] as string[], errors: [] as string[] };
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) seen.elsewhere.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") seen.errors.push(message.text());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  onTestFinished(async () => {
    await context.close();
    await server.close();
    expect(seen).toEqual({ elsewhere: [], errors: [] });
  });
  await page.goto(`${url}/console`);
  return { page, messenger, seen, server };
};

const openLoggedIn = async (state: ConsoleState, options?: { width?: number; scheme?: "light" | "dark" }) => {
  const opened = await open(options);
  opened.messenger.state = state;
  const { page } = opened;
  await page.getByLabel("Username").fill(operator.username);
  await page.getByLabel("Password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.locator("#status").waitFor();
  return opened;
};

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
    "closed",
    { ...connected(), connection: { kind: "closed", since: now() } },
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
    ["Unlinked", "WhatsApp has removed the link", "Try the old link again", "Pair again"],
  ],
  [
    "banned for a time",
    { ...connected(), connection: { kind: "closed", since: now(), answer: 402, retryAt: now() } },
    ["Banned", "No login is tried before"],
  ],
  [
    "locked",
    { ...connected(), connection: { kind: "stopped", since: now(), answer: 403 } },
    ["Rejected", "WhatsApp has locked the account", "Connect again"],
  ],
  [
    "too old",
    { ...connected(), connection: { kind: "stopped", since: now(), answer: 405 } },
    ["Rejected", "Version of WhatsApp Web", "Set version and connect"],
  ],
  [
    "asked for a passkey",
    { ...pairing(), connection: { ...pairing().connection, passkey: true } },
    ["Passkey demanded", "Do not scan again and again."],
  ],
  ["standby", { ...connected(), leader: false }, ["Standby", "Another task is the leader"]],
  [
    "without the database",
    { ...connected(), queue: [], messages: [], runs: [], databaseUnavailable: true },
    ["The database is unavailable", "Connected", "unknown", "Messages are unavailable"],
  ],
  [
    "without any message or run",
    { ...connected(), queue: [], messages: [], runs: [] },
    ["No messages yet.", "No runs with recipients yet."],
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
    await page.reload();
    const shown = await page.locator("main").innerText();
    for (const text of texts) expect(shown, name).toContain(text);
    expect(await overflow(page), name).toBe(0);
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
  const [first] = messenger.state.messages;
  if (!first) throw new Error("no message");
  messenger.state = { ...messenger.state, messages: [{ ...first, id: "NEW" }, ...messenger.state.messages] };
  await page.locator("#message-NEW").waitFor();
  expect(await page.locator("#messages tbody tr").count()).toBe(9);
  expect(await page.locator("#messages tbody tr").first().getAttribute("id")).toBe("message-NEW");
});

test("exposes the table of runs to screen readers, on narrow screens too", async () => {
  const { page } = await openLoggedIn(connected(), { width: 360 });
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

describe("the keyboard", () => {
  /** Presses Tab until the element has a visible focus. */
  const tabTo = async (page: Page, name: string) => {
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press("Tab");
      const [label, outline] = await page.evaluate<string[]>(
        "(({ labels, textContent }) => [labels?.[0]?.textContent || textContent, getComputedStyle(document.activeElement).outlineStyle])(document.activeElement)",
      );
      if (label?.trim() !== name) continue;
      expect(outline, name).toBe("solid");
      return;
    }
    throw new Error(`${name} cannot be reached with Tab`);
  };
  const notice = (page: Page, text: string) => page.locator("#notice", { hasText: text }).waitFor();

  test("is sufficient from login to logout", async () => {
    const { page, messenger } = await open();
    // autofocus takes effect once the page is rendered
    await page.locator("#username:focus").waitFor();
    await page.keyboard.type(operator.username);
    await tabTo(page, "Password");
    await page.keyboard.type(operator.password);
    await page.keyboard.press("Enter");
    await page.locator("#status").waitFor();

    await tabTo(page, "Pause sending");
    await page.keyboard.press("Enter");
    await notice(page, "Sending paused.");
    // the focus stays on the button, which now resumes
    expect(await page.locator(":focus").innerText()).toBe("Resume sending");
    await page.keyboard.press("Space");
    await notice(page, "Sending resumed.");
    expect(messenger.calls).toEqual(["pause", "resume"]);

    await tabTo(page, "Unlink…");
    await page.keyboard.press("Enter");
    await tabTo(page, "Type unlink to confirm");
    await page.keyboard.type("no");
    await page.keyboard.press("Enter");
    await notice(page, "The phone was not unlinked");
    expect(messenger.calls).toHaveLength(2);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("unlink");
    await tabTo(page, "Unlink phone");
    await page.keyboard.press("Enter");
    await notice(page, "Phone unlinked.");
    expect(messenger.calls).toHaveLength(3);
    expect(await page.evaluate("document.activeElement.id")).toBe("notice");

    await tabTo(page, "Phone number");
    await page.keyboard.type("+62 812-3456-7890");
    await tabTo(page, "Get pairing code");
    await page.keyboard.press("Enter");
    await notice(page, "Pairing code: K7PX-2QWM.");
    expect(messenger.calls.at(-1)).toBe("pairing code for 6281234567890");
    expect(await page.locator("#code output").innerText()).toBe("K7PX-2QWM");

    await page.reload();
    await tabTo(page, "Log out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
  });
});

test("reports that the task is not responding until it responds again", async () => {
  const { page, seen } = await openLoggedIn(connected());
  await page.route("**/console", (route) => route.abort());
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.innerText()).toContain("The messenger is not responding.");
  await page.unroute("**/console");
  await alert.waitFor({ state: "hidden" });
  expect(seen.errors.every((text) => text.includes("ERR_FAILED"))).toBe(true);
  seen.errors.length = 0;
});

test("a poll prolongs the login only after a key or a click", async () => {
  const { page } = await openLoggedIn(connected());
  const poll = (isIdle: boolean) =>
    page.waitForRequest(
      (request) =>
        request.resourceType() === "fetch" && (request.headers()["x-idle"] !== undefined) === isIdle,
    );
  for (const act of [() => page.keyboard.press("Shift"), () => page.locator("#status").click()]) {
    await poll(true);
    await Promise.all([poll(false), act()]);
  }
  await poll(true);
});

test("goes to the login after a logout in another window", async () => {
  const { page } = await openLoggedIn(connected());
  await page.evaluate("fetch('/console/logout', { method: 'POST' }).then(() => undefined)");
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

test("works without script", async () => {
  const { server, messenger } = createConsole();
  onTestFinished(() => server.close());
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  const context = await browser.newContext({ javaScriptEnabled: false });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${url}/console`);
  await page.getByLabel("Username").fill(operator.username);
  await page.getByLabel("Password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Pause sending" }).click();
  await page.getByText("Sending paused.", { exact: true }).waitFor();
  expect(messenger.calls).toEqual(["pause"]);
});
