import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { languages } from "#lib/console/words.ts";
import { database, stageEachTest, start } from "../fleet/running-task.ts";
import { operator } from "../steps/console.ts";
import { browser, check, openAt, stageBrowser } from "./console-pages.ts";

/*
 * Files of recipients in a running task's console, whose sending is paused: what is handed over waits.
 */
stageBrowser();
stageEachTest();

const openPage = async (locale: string, width: number) => {
  await database.admin`update messaging.control set paused = true`;
  const { url } = await start();
  const context = await browser.newContext({ locale, viewport: { width, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text());
  });
  onTestFinished(() => expect(errors).toEqual([]));
  await page.goto(`${url}/console`);
  await page.locator("#username").fill(operator.username);
  await page.locator("#password").fill(operator.password);
  await page.keyboard.press("Enter");
  await page.locator("#status").waitFor();
  return page;
};

const csv = (...phones: string[]) => ({
  name: "people.csv",
  mimeType: "text/csv",
  buffer: Buffer.from(
    ["phone,name,subject,details", ...phones.map((phone) => `${phone},Siti,Pajak,Bayar di loket`), ""].join(
      "\n",
    ),
  ),
});
const acceptable = { violations: [], overflow: 0 };
const polled = (page: Page) => page.waitForResponse((response) => response.request().method() === "GET");
const waiting = async () =>
  (
    await database.admin`select state, count(*)::int from messaging.message group by state order by state`
  ).map(({ state, count }) => [state, count]);

test.each([
  ["en", 1_280],
  ["id", 390],
] as const)(
  "a file is previewed, sent, followed and reported without a reload, and another run cancelled, in %s at %i pixels",
  async (locale, width) => {
    const say = languages[locale];
    const page = await openPage(locale, width);
    await openAt(page, "runs");
    await page.getByRole("link", { name: say("bulk.open") }).click();
    await page.locator("#upload").waitFor();
    expect(await check(page)).toEqual(acceptable);
    const loads: string[] = [];
    page.on("framenavigated", (frame) => loads.push(frame.url()));
    const preview = page.locator("#preview");
    const upload = page.locator("#upload");
    const send = async (run: string, ...phones: string[]) => {
      await upload.getByLabel(say("upload.template"), { exact: true }).selectOption("reminder");
      await upload.getByLabel(say("upload.name"), { exact: true }).fill(run);
      await upload.getByLabel(say("upload.file"), { exact: true }).setInputFiles(csv(...phones));
      await upload.getByRole("button", { name: say("upload.preview"), exact: true }).click();
      await preview.getByText(run, { exact: true }).waitFor();
    };

    await send("tax", "6281200000001", "6281200000002", "08");
    expect(await preview.locator("blockquote").first().innerText()).toContain("S•••");
    expect(await preview.innerText()).toContain("phone must be a number with country code");
    expect(await check(page)).toEqual(acceptable);
    // neither the preview nor what was chosen is lost with the next polls
    await polled(page);
    await polled(page);
    expect(await preview.isVisible()).toBe(true);
    expect(await waiting()).toEqual([]);
    await upload.getByRole("button", { name: say("upload.start", { count: 2 }) }).click();
    await page.getByText(say("notices.started", { run: "tax" })).waitFor();

    const row = (run: string) => page.locator("#bulk-runs tbody tr").filter({ hasText: run });
    await row("tax")
      .getByText(say("bulk-runs.progress", { done: 3, all: 3 }))
      .waitFor();
    // sending is paused
    await row("tax")
      .getByText(say("runs.handedOver", { sent: 0, all: 2 }), { exact: true })
      .waitFor();
    expect(await row("tax").getByRole("progressbar").getAttribute("value")).toBe("3");
    expect(await waiting()).toEqual([["PENDING", 2]]);
    expect(await preview.isVisible()).toBe(false);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: say("bulk-runs.reportOf", { run: "tax" }) }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("tax.csv");
    const report = Buffer.concat(await (await download.createReadStream()).toArray()).toString();
    expect(report.split("\n")).toHaveLength(5);

    await send("news", "6281200000001");
    await upload.getByRole("button", { name: say("upload.start", { count: 1 }) }).click();
    await page.getByText(say("notices.started", { run: "news" })).waitFor();
    await row("news")
      .getByText(say("runs.handedOver", { sent: 0, all: 1 }), { exact: true })
      .waitFor();
    await row("news").getByText(say("runs.cancel.summary")).click();
    await row("news").getByLabel(say("runs.cancel.confirm")).check();
    await row("news")
      .getByRole("button", { name: say("runs.cancel.button", { count: 1 }) })
      .click();
    await row("news").getByText(say("runs.states.cancelled"), { exact: true }).waitFor();
    expect(await waiting()).toEqual([
      ["CANCELLED", 1],
      ["PENDING", 2],
    ]);
    expect(await check(page)).toEqual(acceptable);
    expect(loads).toEqual([]);
  },
);
