import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { languages } from "#lib/openapi/text.ts";
import { guideNames } from "../../infra/docs/guide.ts";
import { launchBrowser } from "./browser.ts";

const { baseUrl } = inject("city");
let browser: Browser;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ browser, close } = await launchBrowser());
});
afterAll(() => close?.());

/** A page that must send no request to another origin and write nothing to the console. */
const open = async (path: string, width = 1_280, javaScriptEnabled = true) => {
  const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const seen = { elsewhere: [] as string[], said: [] as string[] };
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== baseUrl) seen.elsewhere.push(request.url());
  });
  page.on("console", (message) => seen.said.push(message.text()));
  page.on("pageerror", (error) => seen.said.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(seen).toEqual({ elsewhere: [], said: [] });
  });
  const response = await page.goto(`${baseUrl}${path}`);
  expect(response?.status()).toBe(200);
  return { page, headers: response?.headers() ?? {} };
};

const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

describe.each(languages)("the reference page in %s", (language) => {
  test.each([1_280, 360])("shows every endpoint with its summary and errors, at %i pixels", async (width) => {
    const { page } = await open(`/docs?lang=${language}`, width);
    const endpoints = page.locator(".opblock");
    await endpoints.first().waitFor();
    expect(await endpoints.count()).toBe(12);
    for (const id of ["searchResidents", "readEmployees", "sendImage"]) {
      const endpoint = page.locator(`[id$="-${id}"]`);
      await endpoint.locator(".opblock-summary-control").click();
      await endpoint.getByText("curl -s", { exact: false }).first().waitFor();
      await endpoint.locator(".response-col_status", { hasText: "429" }).waitFor();
      expect(await overflow(page), id).toBe(0);
    }
    expect(await page.getByRole("button", { name: /try it out|authorize|execute/i }).count()).toBe(0);
  });
});

test("works by keyboard: skip link, guides, opening an endpoint", async () => {
  const { page } = await open("/docs");
  await page.locator(".opblock").first().waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.className")).toBe("skip");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("content");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("For app developers");
  await page.locator(".opblock-summary-control").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".opblock.is-open").waitFor();
});

test("switches language, and links to every guide and back", async () => {
  const { page } = await open("/docs");
  await page.getByRole("link", { name: "Bahasa Indonesia" }).click();
  await page.getByRole("heading", { name: "API Integrasi Kota", level: 1 }).waitFor();
  expect(await page.locator(".guides a").count()).toBe(guideNames.length);
  await page.getByRole("link", { name: "Paging" }).click();
  await page.getByRole("heading", { name: "Paging", level: 1 }).waitFor();
  await page.getByRole("link", { name: /Semua panduan/ }).click();
  await page.locator(".opblock").first().waitFor();
  expect(new URL(page.url()).searchParams.get("lang")).toBe("id");
});

test("every guide fits a narrow screen, and its links work", async () => {
  const { page } = await open("/docs/paging", 360);
  for (const language of languages)
    for (const name of guideNames) {
      await page.goto(`${baseUrl}/docs/${name}?lang=${language}`);
      expect([name, await overflow(page)]).toEqual([name, 0]);
      // a word that is broken at each letter is high
      const broken = await page
        .locator("td code")
        .evaluateAll(
          (codes: { offsetHeight: number }[]) =>
            codes.filter(({ offsetHeight }) => offsetHeight > 100).length,
        );
      expect([name, broken]).toEqual([name, 0]);
      const links = await page
        .locator("a[href]")
        .evaluateAll((found: unknown[]) => found.map((one) => String(one)));
      for (const link of new Set(links)) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
    }
});

test("without script, the page links to the document", async () => {
  const { page } = await open("/docs", 360, false);
  await page.getByText("The reference needs JavaScript").waitFor();
});

test("the content security policy allows no other origin, and no inline scripts and styles", async () => {
  const { headers } = await open("/docs/errors");
  const policy = headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|http|\*/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
});

test.each(["/docs/nothing", "/docs/reference.js.map", "/docs/..%2findex.mjs", "/docs/index"])(
  "%s is not a page",
  async (path) => expect([400, 404]).toContain((await fetch(`${baseUrl}${path}`)).status),
);
