import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, vi } from "vitest";
import { type PageName, pathOfPage } from "#lib/console/page.ts";
import type { ConsoleState } from "#lib/console/state.ts";
import { createConsole, operator } from "../steps/console.ts";
import { launchBrowser } from "./browser.ts";

/*
 * What the browser tests of the console share: a browser for the file, and a console in a page for each test.
 */
/** Of the test file. */
export let browser: Browser;
let close: () => Promise<void>;

/** Starts a browser for all tests of the file, and hides the console's log. */
export const stageBrowser = () => {
  beforeAll(async () => {
    ({ browser, close } = await launchBrowser());
  });
  afterAll(() => close?.());
  beforeEach(() => {
    const spy = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => spy.mockRestore());
  });
};

interface Options {
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  readonly locale?: string;
}

/** Opens a page; the test fails if it requests another origin, violates its policy or logs an error. */
export const openPage = async (address: string, { width, scheme, locale }: Options = {}) => {
  const context = await browser.newContext({
    viewport: { width: width ?? 1_024, height: 800 },
    colorScheme: scheme ?? "light",
    locale: locale ?? "en-US",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const { origin } = new URL(address);
  const seen = { elsewhere: [] as string[], errors: [] as string[] };
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== origin) seen.elsewhere.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") seen.errors.push(message.text());
  });
  page.on("pageerror", (error) => seen.errors.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(seen).toEqual({ elsewhere: [], errors: [] });
  });
  await page.goto(address);
  return { page, seen };
};

/** Opens a console of its own in a page. */
export const open = async (options?: Options) => {
  const { server, messenger } = createConsole();
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  return { ...(await openPage(`${url}/console`, options)), messenger, server };
};

export const openLoggedIn = async (state: ConsoleState, options?: Options, at: PageName = "now") => {
  const opened = await open(options);
  opened.messenger.state = state;
  const { page } = opened;
  await page.locator("#username").fill(operator.username);
  await page.locator("#password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.locator("#status").waitFor();
  if (at !== "now") await openAt(page, at);
  return opened;
};

/** Goes to a page of the console, as an operator does. */
export const openAt = async (page: Page, at: PageName) => {
  await page.locator(`.pages a[href="${pathOfPage(at)}"]`).click();
  await page.locator(`body[data-home="${pathOfPage(at)}"]`).waitFor();
};

/** What axe finds, and how far the page scrolls sideways. */
export const check = async (page: Page) => {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<string[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(' ')))",
  );
  const overflow = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  return { violations, overflow };
};
