import { Jimp } from "jimp";
import type { Browser, Page } from "playwright-core";
import { create } from "qrcode";
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

/** A console and a page that watches itself: no test may leave the origin or log an error. */
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
  ["pairing", pairing(), ["Not linked", "Link a phone", "Get a pairing code"]],
  [
    "pairing without a code yet",
    { ...connected(), connection: { kind: "pairing", since: now() } },
    ["Waiting for WhatsApp to send a code"],
  ],
  ["connecting", { ...connected(), connection: { kind: "connecting", since: now() } }, ["Connecting"]],
  [
    "closed",
    { ...connected(), connection: { kind: "closed", since: now() } },
    ["Not connected", "WhatsApp, or the network on the way to it, is away"],
  ],
  [
    "replaced",
    { ...connected(), connection: { kind: "replaced", since: now() } },
    ["Taken over", "Another program has opened this messenger"],
  ],
  ["standing by", { ...connected(), leader: false }, ["Standing by", "Another task leads"]],
  [
    "without the database",
    { ...connected(), queue: [], messages: [], runs: [], databaseAway: true },
    ["The database is away", "Connected", "not known", "cannot be shown just now"],
  ],
  [
    "without any message or run",
    { ...connected(), queue: [], messages: [], runs: [] },
    ["No messages yet.", "No job had anybody to tell yet."],
  ],
  [
    "runs of jobs",
    connected(),
    ["appointment-reminder", "9800 handed over", "197 opted out", "3 refused", "11 PENDING", "(42P01)"],
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

test("follows the state without being loaded again, and keeps what is typed", async () => {
  const { page, messenger } = await openLoggedIn(pairing());
  await page.getByLabel("Phone number").fill("62812");
  const before = await page.locator(".qr path").last().getAttribute("d");
  messenger.state = { ...pairing(), connection: { ...pairing().connection, qr: `${qrText}2` } };
  await expect
    .poll(() => page.locator(".qr path").last().getAttribute("d"), { timeout: 5_000 })
    .not.toBe(before);
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

test("names the table of runs, its columns and its cells to a screen reader, also where it is narrow", async () => {
  const { page } = await openLoggedIn(connected(), { width: 360 });
  const table = page.getByRole("table", { name: "Notification jobs" });
  expect(await table.getByRole("columnheader").allInnerTexts()).toEqual([
    ...["State", "Job", "For", "Recipients", "Messages"],
  ]);
  const row = table.getByRole("row", { name: "appointment-reminder" });
  expect(await row.getByRole("cell").count()).toBe(5);
  expect(await row.getByRole("listitem").allInnerTexts()).toEqual([
    ...["9800 handed over", "197 opted out", "3 refused"],
    ...["11 PENDING", "1 SENDING", "40 SENT", "9691 DELIVERED", "55 READ", "2 FAILED"],
  ]);
});

test.each(["light", "dark"] as const)("shows a QR code of the platform's text, %s", async (scheme) => {
  const { page } = await openLoggedIn(pairing(), { scheme });
  const picture = await Jimp.read(await page.locator(".qr").screenshot());
  const { size, data } = create(qrText, { errorCorrectionLevel: "L" }).modules;
  // the picture as it is on the screen, looked at in the middle of each module, quiet zone included
  const side = size + 8;
  const step = picture.width / side;
  const wrong: string[] = [];
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const colour = picture.getPixelColor(Math.floor((x + 0.5) * step), Math.floor((y + 0.5) * step));
      const isInside = x >= 4 && y >= 4 && x < size + 4 && y < size + 4;
      const expected = isInside && data[(y - 4) * size + x - 4] === 1 ? 0x000000ff : 0xffffffff;
      if (colour !== expected) wrong.push(`${x},${y}`);
    }
  expect(wrong).toEqual([]);
  expect(await page.getByRole("img", { name: "QR code that links a phone" }).count()).toBe(1);
});

describe("the keyboard alone", () => {
  /** Presses Tab until the element has the focus, which must show. */
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
    throw new Error(`${name} is not reached by Tab`);
  };
  const notice = (page: Page, text: string) => page.locator("#notice", { hasText: text }).waitFor();

  test("is enough from login to logout", async () => {
    const { page, messenger } = await open();
    // the field has the focus from the start, once the page is drawn
    await page.locator("#username:focus").waitFor();
    await page.keyboard.type(operator.username);
    await tabTo(page, "Password");
    await page.keyboard.type(operator.password);
    await page.keyboard.press("Enter");
    await page.locator("#status").waitFor();

    await tabTo(page, "Pause sending");
    await page.keyboard.press("Enter");
    await notice(page, "Sending is paused.");
    // the focus stays on the button, which now resumes
    expect(await page.locator(":focus").innerText()).toBe("Resume sending");
    await page.keyboard.press("Space");
    await notice(page, "Sending is resumed.");
    expect(messenger.calls).toEqual(["pause", "resume"]);

    await tabTo(page, "Unlink…");
    await page.keyboard.press("Enter");
    await tabTo(page, "Type unlink to confirm");
    await page.keyboard.type("no");
    await page.keyboard.press("Enter");
    await notice(page, "Nothing was unlinked");
    expect(messenger.calls).toHaveLength(2);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("unlink");
    await tabTo(page, "Unlink this phone");
    await page.keyboard.press("Enter");
    await notice(page, "The phone is unlinked.");
    expect(messenger.calls).toHaveLength(3);
    expect(await page.evaluate("document.activeElement.id")).toBe("notice");

    await tabTo(page, "Phone number");
    await page.keyboard.type("+62 812-3456-7890");
    await tabTo(page, "Get a pairing code");
    await page.keyboard.press("Enter");
    await notice(page, "The pairing code is K7PX-2QWM.");
    expect(messenger.calls.at(-1)).toBe("pairing code for 6281234567890");
    expect(await page.locator("#code output").innerText()).toBe("K7PX-2QWM");

    await page.reload();
    await tabTo(page, "Log out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
  });
});

test("says so when the task does not answer, and when it answers again", async () => {
  const { page, seen } = await openLoggedIn(connected());
  await page.route("**/console", (route) => route.abort());
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.innerText()).toContain("The messenger does not answer.");
  await page.unroute("**/console");
  await alert.waitFor({ state: "hidden" });
  expect(seen.errors.every((text) => text.includes("ERR_FAILED"))).toBe(true);
  seen.errors.length = 0;
});

test("goes to the login when somebody has logged out in another window", async () => {
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
  await page.getByText("Sending is paused.", { exact: true }).waitFor();
  expect(messenger.calls).toEqual(["pause"]);
});
