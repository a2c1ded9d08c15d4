import { test, vi } from "vitest";
import { connected, createConsole, operator, pairing } from "../steps/console.ts";
import { launchBrowser } from "./browser.ts";

test("shots", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { browser, close } = await launchBrowser();
  for (const [name, state, width, scheme, locale] of [
    ["wide", connected(), 1280, "light", "en-GB"],
    ["narrow", connected(), 390, "dark", "id-ID"],
    ["bad", { ...connected(), paused: true, pausedSince: new Date(Date.now() - 9e6), limits: { pausedSeconds: 5000, cap: { total: 100, used: 90, endsInSeconds: 90000 } }, connection: { kind: "stopped", answer: 401, since: new Date(Date.now() - 4e6).toISOString() } }, 1280, "dark", "id-ID"],
    ["well", { ...connected(), runs: [] }, 390, "light", "en-GB"],
    ["pairing", pairing(), 390, "light", "id-ID"],
  ] as const) {
    const { server, messenger } = createConsole();
    messenger.state = state as never;
    const url = await server.listen({ port: 0, host: "127.0.0.1" });
    const page = await (await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme, locale })).newPage();
    await page.goto(`${url}/console`);
    if (name === "wide") await page.screenshot({ path: `/tmp/shot-login.png` });
    await page.locator("#username").fill(operator.username);
    await page.locator("#password").fill(operator.password);
    await page.keyboard.press("Enter");
    await page.locator("#status").waitFor();
    if (name === "wide" || name === "narrow") for (const d of await page.locator("details").all()) await d.evaluate((e) => e.setAttribute("open", ""));
    await page.screenshot({ path: `/tmp/shot-${name}.png`, fullPage: true });
    await page.close();
    await server.close();
  }
  await close();
});
