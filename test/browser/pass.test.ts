import { describe, expect, inject, test } from "vitest";
import { pageNames } from "#lib/console/page.ts";
import { languages } from "#lib/openapi/words.ts";
import { prefixes } from "../../infra/docs/content.ts";
import { connected } from "../steps/console-state.ts";
import { openAt, openLoggedIn, openPage, stageBrowser } from "./console-pages.ts";

/*
 * A short look at every kind of page, in one browser; `*.slow.test.ts` beside it use the pages. A page fails that
 * violates its policy, requests another origin or logs an error.
 */
const { baseUrl } = inject("city");

stageBrowser();

describe.each(languages)("in %s", (language) => {
  const docs = `${baseUrl}/docs/${prefixes[language]}`;

  test("the console shows the panels of its pages after the login", async () => {
    const { page } = await openLoggedIn(connected(), { locale: language });
    const panels = {
      now: ["alerts", "status", "queue", "chart"],
      messages: ["messages", "opting", "answering"],
      runs: ["runs"],
      senders: ["senders", "callbacks"],
      accounts: ["accounts", "unlinking"],
      record: ["acts"],
    };
    for (const name of pageNames) {
      await openAt(page, name);
      for (const panel of panels[name]) await page.locator(`#${panel}`).waitFor();
    }
    expect(await page.locator("html").getAttribute("lang")).toBe(language);
  });

  test("the reference shows its first endpoint, with an example", async () => {
    const { page } = await openPage(`${docs}reference`);
    const summary = {
      en: "Exchanges account credentials for an access token and a refresh token",
      id: "Menukar kredensial akun dengan token akses dan refresh token",
    }[language];
    await page.getByRole("heading", { name: summary }).first().waitFor();
    await page.getByText("curl").first().waitFor();
  });

  test("the first page leads to a guide, and its search to another", async () => {
    const words = {
      en: { guide: "Paging", search: "Search", found: "Tickets" },
      id: { guide: "Paging", search: "Cari", found: "Tiket" },
    }[language];
    const { page } = await openPage(docs.replace(/\/$/, ""));
    await page.locator("main").getByRole("link", { name: words.guide }).first().click();
    await page.getByRole("heading", { name: words.guide, level: 1 }).waitFor();
    await page.getByRole("button", { name: words.search }).click();
    await page.getByPlaceholder(words.search).fill(words.found);
    await page.locator("dialog").getByRole("link", { name: words.found, exact: true }).first().click();
    await page.getByRole("heading", { name: words.found, level: 1 }).waitFor();
  });
});
