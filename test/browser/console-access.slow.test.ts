import type { Browser } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { openIssuer } from "#lib/console/login/issuer.ts";
import { pageNames } from "#lib/console/page.ts";
import type { ConsoleState } from "#lib/console/state.ts";
import { createConsole, operator } from "../steps/console.ts";
import { connected, pairing } from "../steps/console-state.ts";
import { startIssuer } from "../steps/issuer.ts";
import { browser, check, openAt, stageBrowser } from "./console-pages.ts";

stageBrowser();

const listen = async (more?: Parameters<typeof createConsole>[0]) => {
  const { server, messenger } = createConsole(more);
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  return { url, messenger };
};
type Settings = Parameters<Browser["newContext"]>[0];
const openPage = async (settings: Settings) => {
  const context = await browser.newContext(settings);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  return page;
};
type OpenPage = Awaited<ReturnType<typeof openPage>>;

const logIn = async (page: OpenPage) => {
  await page.locator("#username").fill(operator.username);
  await page.locator("#password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.locator("#status").waitFor();
};

const stopped: ConsoleState = {
  ...connected(),
  connection: { kind: "stopped", answer: 405, since: new Date().toISOString() },
  paused: true,
  pausedSince: new Date(),
  limits: { pausedSeconds: 600, cap: { total: 100, used: 90, endsInSeconds: 9_000 } },
};
const states: readonly ConsoleState[] = [
  connected(),
  stopped,
  { ...pairing(), connection: { ...pairing().connection, passkey: true, code: "K7PX-2QWM" } },
  {
    ...connected(),
    messages: [],
    runs: [],
    terms: [],
    callbacks: [],
    acts: [],
    hours: [],
    unread: "unavailable",
  },
];

test.each([390, 1_280])("what is wrong stands in the first screen, at %i pixels", async (width) => {
  const { url, messenger } = await listen();
  messenger.state = stopped;
  const page = await openPage({ viewport: { width, height: 800 }, locale: "en" });
  await page.goto(`${url}/console`);
  await logIn(page);
  const box = await page.locator("#alerts [data-alert]").first().boundingBox();
  expect(box?.y).toBeGreaterThan(0);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(800);
});

describe.each(["en", "id"])("in %s", (locale) => {
  test.each([
    [390, "light"],
    [390, "dark"],
    [1_280, "light"],
    [1_280, "dark"],
  ] as const)(
    "every state is accessible and does not scroll sideways, at %i pixels, %s",
    async (width, colorScheme) => {
      const { url, messenger } = await listen();
      const page = await openPage({ viewport: { width, height: 800 }, colorScheme, locale });
      await page.goto(`${url}/console`);
      expect(await check(page)).toEqual({ violations: [], overflow: 0 });
      await logIn(page);
      for (const state of states) {
        messenger.state = state;
        for (const at of pageNames) {
          await openAt(page, at);
          await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
          expect(await check(page), at).toEqual({ violations: [], overflow: 0 });
        }
      }
    },
  );
});

test("a search shows its number masked, in no address, and lasts until it is cleared", async () => {
  const { url, messenger } = await listen();
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await logIn(page);
  await openAt(page, "messages");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.getByLabel("Message id or number").fill("+62 812-3456-7890");
  await page.getByLabel("Sender", { exact: true }).selectOption("notification");
  await page.getByRole("button", { name: "Search" }).click();
  const shown = "Shows messages to 6281•••••••90, messages of notification.";
  await page.getByText(shown).waitFor();
  expect(await page.getByLabel("Message id or number").inputValue()).toBe("");
  expect(await page.getByLabel("Sender", { exact: true }).inputValue()).toBe("notification");
  expect(messenger.filter).toEqual({ phone: "6281234567890", sender: "notification" });
  expect(await page.content()).not.toContain("34567890");
  await page.reload();
  await page.getByText(shown).waitFor();
  expect(asked.join()).not.toMatch(/34567890|3456-7890/);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByText(shown).waitFor({ state: "hidden" });
  expect(await page.getByLabel("Sender", { exact: true }).inputValue()).toBe("");
  expect(messenger.filter).toEqual({});
});

test("a waiting message says why, and a rejected one what to do", async () => {
  const { url } = await listen();
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await logIn(page);
  await openAt(page, "messages");
  const rows = page.locator("#messages tbody tr");
  const waiting = await rows.filter({ hasText: "PENDING" }).innerText();
  expect(waiting).toContain("Waits:");
  expect(waiting).toContain("other messages are before it");
  expect(waiting).toContain("pace: a few seconds between two messages, until");
  expect(await rows.filter({ hasText: "code 479" }).innerText()).toContain("What to do: Nothing, unless");
});

test("a number is opted out, and in again by the second button of the form, with a confirmation", async () => {
  const { url, messenger } = await listen();
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await logIn(page);
  await openAt(page, "messages");
  for (const [button, call, notice] of [
    ["Opt out", "opt out 6281234567890", "6281•••••••90 has opted out."],
    ["Opt in again", "opt in 6281234567890", "6281•••••••90 had not opted out."],
  ] as const) {
    await page.locator("#opting summary").click();
    await page.getByLabel("Number to opt out or in").fill("6281234567890");
    await page.getByRole("checkbox").check();
    // the second poll begins after the first has updated the page
    for (let polls = 0; polls < 2; polls++)
      await page.waitForRequest((request) => request.resourceType() === "fetch");
    await page.getByRole("button", { name: button, exact: true }).click();
    await page.locator("#notice", { hasText: notice }).waitFor();
    expect(messenger.calls.at(-1)).toBe(call);
  }
});

test("the language is switched on the page and stays", async () => {
  const { url } = await listen();
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await page.getByRole("link", { name: "Bahasa Indonesia" }).click();
  await page.getByRole("heading", { name: "Masuk" }).waitFor();
  await logIn(page);
  expect(await page.locator("html").getAttribute("lang")).toBe("id");
  await page.getByText("Jeda pengiriman…").click();
  await page.getByRole("button", { name: "Jeda pengiriman" }).click();
  await page.locator("#notice", { hasText: "Pengiriman dijeda." }).waitFor();
  expect(await page.getByRole("button", { name: "Lanjutkan pengiriman" }).count()).toBe(1);
});

test("the chart has a table with the same figures", async () => {
  const { url, messenger } = await listen();
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await logIn(page);
  expect(await page.getByRole("img", { name: /^(Accepted|Sent|Failed|Waiting): / }).count()).toBe(4);
  await page.locator("#chart summary").click();
  const rows = page.getByRole("table", { name: "Messages by hour" }).locator("tbody tr");
  expect(await rows.count()).toBe(24);
  const last = messenger.state.hours.at(-1);
  const cells = await rows.last().locator("td").allInnerTexts();
  expect(cells).toEqual([last?.accepted, last?.sent, last?.failed, last?.waiting].map(String));
});

test("an operator who logs in at the issuer, another site, arrives at the console", async () => {
  const issuer = await startIssuer();
  onTestFinished(async () => void (await issuer.stop()));
  const settings = {
    url: issuer.url,
    clientId: "console",
    groupsClaim: "cognito:groups",
    findClientSecret: async () => undefined,
  };
  const { url } = await listen({ issuer: openIssuer(settings) });
  const page = await openPage({ locale: "en" });
  await page.goto(`${url}/console`);
  await page.getByRole("link", { name: "Log in with the city's account" }).click();
  await page.locator("#status").waitFor();
  expect(page.url()).toBe(`${url}/console`);
  expect(await page.locator(".bar form").innerText()).toContain("sari · operator");
  await openAt(page, "accounts");
  // an operator does not unlink
  expect(await page.locator("#unlinking").isVisible()).toBe(false);
  const cookies = await page.context().cookies();
  expect(cookies.find(({ name }) => name === "console")).toMatchObject({
    sameSite: "Strict",
    httpOnly: true,
  });
});
