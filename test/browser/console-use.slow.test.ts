import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConsole, operator } from "../steps/console.ts";
import { connected } from "../steps/console-state.ts";
import { browser, open, openLoggedIn, stageBrowser } from "./console-pages.ts";

stageBrowser();

describe("the keyboard", () => {
  /** Presses Tab until the element has a visible focus. */
  const tabTo = async (page: Page, name: string) => {
    for (let presses = 0; presses < 24; presses += 1) {
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

    await tabTo(page, "Pause sending…");
    await page.keyboard.press("Enter");
    await tabTo(page, "Pause sending");
    await page.keyboard.press("Enter");
    await notice(page, "Sending paused.");
    // the form is hidden
    expect(await page.evaluate("document.activeElement.id")).toBe("notice");
    await tabTo(page, "Resume sending");
    await page.keyboard.press("Space");
    await notice(page, "Sending resumed.");
    expect(messenger.calls).toEqual(["pause", "resume"]);

    await tabTo(page, "Accounts");
    await page.keyboard.press("Enter");
    await page.locator("#accounts").waitFor();
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

    await page.reload();
    await tabTo(page, "Now");
    await page.keyboard.press("Enter");
    await page.locator("#linking").waitFor();
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

test("what was typed when the login ended is there again after the next login, on the same page", async () => {
  const { page } = await openLoggedIn(connected(), {}, "messages");
  await page.locator("#answering summary").click();
  await page.locator("#answer-text").fill("In an emergency call 112");
  await page.evaluate("fetch('/console/logout', { method: 'POST' }).then(() => undefined)");
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.locator("#username").fill(operator.username);
  await page.locator("#password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.locator('body[data-home="/console/messages"]').waitFor();
  await expect.poll(() => page.locator("#answer-text").inputValue()).toBe("In an emergency call 112");
  expect(await page.locator("#answer-text").isVisible()).toBe(true);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
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
  await page.getByText("Pause sending…").click();
  await page.getByRole("button", { name: "Pause sending" }).click();
  await page.getByText("Sending paused.", { exact: true }).waitFor();
  expect(messenger.calls).toEqual(["pause"]);
});
