import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { isDescribed } from "#lib/openapi/document.ts";
import { tags } from "#lib/openapi/words/overview.ts";
import { languages } from "#lib/openapi/words.ts";
import { routes } from "#lib/routes/index.ts";
import { prefixes } from "../../infra/docs/content.ts";
import { guideNames } from "../../infra/docs/guide.ts";
import { listFiles } from "../steps/docs-files.ts";
import { launchBrowser } from "./browser.ts";
import { check, type Visit, walk } from "./walk.ts";

const { baseUrl } = inject("city");
const origin = new URL(baseUrl).origin;
const pathsOf = (names: readonly string[]) =>
  languages.flatMap((language) =>
    names.map((name) => `/docs/${prefixes[language]}${name}`.replace(/\/$/, "")),
  );
/** Those of the documentation itself are not documented. */
const endpoints = routes.filter(isDescribed).length;
const references = pathsOf(["reference"]);
const isReference = (path: string) => references.includes(path);

let browser: Browser;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ browser, close } = await launchBrowser());
});
afterAll(() => close?.());

const open = async (path: string, options = {}) => {
  const context = await browser.newContext({
    viewport: { width: 1_280, height: 800 },
    locale: "en-US",
    ...options,
  });
  onTestFinished(async () => {
    await context.unrouteAll({ behavior: "ignoreErrors" }); // of files that the page still loads
    await context.close();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const response = await page.goto(`${origin}${path}`);
  return { page, context, headers: response?.headers() ?? {} };
};

describe("every page", () => {
  let visits: Visit[];
  beforeAll(async () => {
    const paths = pathsOf(["", ...guideNames, "404", "reference"]);
    visits = await walk(browser, origin, paths, (path) => (isReference(path) ? "#reference h1" : "h1"));
  }, 600_000);

  test("has no violation of WCAG 2.2 AA that axe finds, at 390 and 1280 pixels, light and dark", () =>
    expect(visits.flatMap(({ violations }) => violations)).toEqual([]));

  test("requests no file that its weight leaves out", async () => {
    for (const { path, requested } of visits) {
      const weighed = await listFiles(path);
      expect([path, requested.filter((file) => !weighed.includes(file))]).toEqual([path, []]);
    }
  });

  test("fits its width, and breaks no word of a table", () =>
    expect(
      visits.filter((one) => one.brokenWords > 0 || one.overflows.some(Boolean)).map(({ path }) => path),
    ).toEqual([]));

  test("sends no request to another origin, and writes no error to the console", () =>
    expect(visits.flatMap(({ complaints }) => complaints)).toEqual([]));

  test("has links that work, to headings that exist", async () => {
    const links = new Set(visits.flatMap((one) => one.links).filter((link) => link.startsWith(origin)));
    const texts = new Map<string, string>();
    for (const link of links) {
      const [address = "", fragment] = link.split("#");
      if (!texts.has(address)) {
        const response = await fetch(address);
        expect([address, response.status]).toEqual([address, 200]);
        texts.set(address, await response.text());
      }
      if (fragment && !isReference(new URL(address).pathname))
        expect([link, texts.get(address)?.includes(`id="${decodeURIComponent(fragment)}"`)]).toEqual([
          link,
          true,
        ]);
    }
    expect(links.size).toBeGreaterThan(guideNames.length * 2);
  });

  test("in Indonesian has Indonesian labels", () => {
    const english =
      /^(search|cancel|menu button|main|on this page|overview|next|previous|select theme|select language|dark|light|auto|copy.*|copied.*|section titled.*|skip to.*|terminal.*|test request|show .*|select .*|no authentication.*|open .*|close .*)$/i;
    const found = visits
      .filter(({ path }) => path.startsWith("/docs/id"))
      .flatMap(({ path, labels }) =>
        labels.filter((one) => english.test(one)).map((one) => `${path}: ${one}`),
      );
    expect([...new Set(found)]).toEqual([]);
  });
});

describe.each(languages)("the reference in %s", (language) => {
  const path = `/docs/${prefixes[language]}reference`;
  const trial = { en: "Test Request", id: "Coba permintaan" }[language];

  test("shows each endpoint, and offers to send requests to the imitated stage", async () => {
    const { page } = await open(path);
    await page.getByRole("button", { name: trial }).first().waitFor();
    const response = await fetch(`${baseUrl}/openapi.json?lang=${language}`);
    const { paths } = (await response.json()) as {
      paths: Record<string, Record<string, { summary?: string }>>;
    };
    const summaries = Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ summary }) => summary ?? []),
    );
    expect(summaries).toHaveLength(endpoints);
    for (const summary of summaries)
      expect(await page.getByText(summary, { exact: true }).count(), summary).toBeGreaterThan(0);
  });

  test("shows tested samples alone, and offers no trial of the messaging API, which answers no other origin", async () => {
    const id = "api-1/tag/messaging/POST/send/message";
    const { page } = await open(`${path}#${id}`);
    const section = page.locator(`[id="${id}"]`);
    await section.getByText("curl -s").first().waitFor();
    expect(await section.innerText()).not.toContain("Idempotency-Key: ");
    expect(await section.getByRole("button", { name: trial }).count()).toBe(0);
    await section.getByRole("button", { name: /curl/ }).click();
    const choices = await page.getByRole("option").allInnerTexts();
    expect(choices.slice(-4).map((choice) => choice.trim())).toEqual(["curl", "TypeScript", "Python", "PHP"]);
  });

  test("offers no requests to a deployed stage", async () => {
    const { page, context } = await open("/docs/cors");
    const deployed = "http://services.city.example";
    await context.route(`${deployed}/**`, async (route) => {
      const url = route.request().url().replace(deployed, origin);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    await page.goto(`${deployed}${path}`);
    await page.locator("#reference h1").waitFor();
    expect(await page.getByRole("button", { name: trial }).count()).toBe(0);
  });

  test("names its groups in the language of the page", async () => {
    const { page } = await open(path);
    await page.locator("#reference h1").waitFor();
    for (const { title } of Object.values(tags))
      expect(
        await page.getByRole("heading", { name: title[language], exact: true }).count(),
        title[language],
      ).toBe(1);
  });

  test("has one search", async () => {
    const { page } = await open(path);
    await page.locator("#reference h1").waitFor();
    expect(await page.getByRole("button", { name: /^(Search|Cari)/ }).count()).toBe(1);
  });

  test("lists the endpoints without script", async () => {
    const { page } = await open(path, { javaScriptEnabled: false });
    expect(await page.locator("#reference li").count()).toBe(endpoints);
  });
});

test("the Indonesian dialog that sends a request has Indonesian labels, before and after it is sent", async () => {
  const { page } = await open("/docs/id/reference");
  await page.getByRole("button", { name: "Coba permintaan" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Klien API" });
  await dialog
    .getByRole("button", { name: /^Kirim/ })
    .first()
    .click();
  await dialog.getByText("Header respons").waitFor();
  const labels = await page.evaluate<string[]>(
    `[...document.querySelectorAll("[role=dialog][aria-label='Klien API'] :not(pre *, code *, .cm-editor *)")].flatMap((one) => [
      ...["aria-label", "title", "data-placeholder"].map((name) => one.getAttribute(name)),
      ...[...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    ]).filter((label) => label?.trim())`,
  );
  expect(labels.length).toBeGreaterThan(50);
  const english =
    /\b(All|Clear|Close|Code|Collapsed|Cookies|Copy|Download|Enabled|Form|Headers|Key|More|Open|Preview|Raw|Request|Response|Search|Send|Show|Value)\b/;
  expect(labels.filter((label) => english.test(label))).toEqual([]);
});

test("the search with its results has no violation that axe finds", async () => {
  const { page } = await open("/docs", { bypassCSP: true });
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByPlaceholder("Search").fill("ticket");
  await page.locator("dialog").getByRole("link", { name: "Tickets", exact: true }).first().waitFor();
  expect(await check(page)).toEqual([]);
});

test("a guide has its contents, copy buttons, highlighted code and neighbours, and is printed without the sidebar", async () => {
  const { page } = await open("/docs/app-builder");
  const contents = page.getByRole("navigation", { name: "On this page" });
  expect(await contents.getByRole("link").count()).toBeGreaterThan(2);
  expect(await page.getByRole("button", { name: /^Copy/ }).count()).toBeGreaterThan(0);
  expect(await page.locator("pre code span[class^=s-]").count()).toBeGreaterThan(5);
  for (const rel of ["prev", "next"]) expect(await page.locator(`main a[rel=${rel}]`).count()).toBe(1);
  const sidebar = page.locator("nav.sidebar a").first();
  expect(await sidebar.isVisible()).toBe(true);
  await page.emulateMedia({ media: "print" });
  expect(await sidebar.isVisible()).toBe(false);
});

test("the search finds a guide in the language of the page", async () => {
  const { page } = await open("/docs/id");
  await page.getByRole("button", { name: "Cari" }).click();
  await page.getByPlaceholder("Cari").fill("frasa sandi tiket");
  await page.locator("dialog").getByRole("link", { name: "Tiket", exact: true }).first().click();
  await page.waitForURL(/\/docs\/id\/tickets(#.*)?$/);
});

test("a language of code examples that a reader chooses is shown on the next page, too", async () => {
  const { page } = await open("/docs/app-builder");
  await page.getByRole("tab", { name: "Python" }).first().click();
  await page.goto(`${origin}/docs/partner`);
  await page.getByText("import requests").first().waitFor();
});

test("works by keyboard: the skip link is first, and leads to the content", async () => {
  const { page } = await open("/docs/paging");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).hash).toBe("#_top");
});

test("the language switch leads to the same page", async () => {
  const { page } = await open("/docs/paging");
  await page
    .getByRole("combobox", { name: "Select language" })
    .first()
    .selectOption({ label: "Bahasa Indonesia" });
  await page.waitForURL(/\/docs\/id\/paging$/);
  await page.getByRole("heading", { name: "Paging", level: 1 }).waitFor();
});

test("a missing page is a page in its language for people", async () => {
  const { page } = await open("/docs/id/nothing");
  await page.getByRole("heading", { name: "Halaman tidak ditemukan" }).waitFor();
});

test("the content security policy allows no other origin, and no inline scripts but those of the build", async () => {
  const policyOf = async (path: string) => (await open(path)).headers["content-security-policy"] ?? "";
  const policy = await policyOf("/docs/errors");
  expect(policy).toContain("default-src 'none'");
  expect(policy.replace("'wasm-unsafe-eval'", "")).not.toMatch(/unsafe|http|\*/);
  // the reference's script writes styles
  expect(await policyOf("/docs/reference")).toBe(policy.replace("style-src 'self'", "$& 'unsafe-inline'"));
});
