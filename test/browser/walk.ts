import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

/** Half the size of the package's main file: each page compiles it once. */
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Runs axe in a page. Of the second scheme only colours differ. @returns rule and element of each violation. */
export const check = async (page: Page, onlyColours = false): Promise<string[]> => {
  const runOnly = onlyColours ? ["color-contrast"] : tags;
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"], preload: false });
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
};

const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
/** A word that is broken at each letter is high. */
const brokenWords =
  "[...document.querySelectorAll('td code')].filter((code) => code.offsetHeight > 100).length";
const labels =
  "[...document.querySelectorAll('[aria-label], [title], button, [role=tab], label, select option')].flatMap((one) => [one.ariaLabel, one.title, one.textContent]).map((text) => text?.trim()).filter(Boolean)";
const links = "[...document.querySelectorAll('a[href]')].map(({ href }) => href)";

export interface Visit {
  readonly path: string;
  /** The paths that the page requested. */
  readonly requested: readonly string[];
  readonly violations: readonly string[];
  readonly overflows: readonly number[];
  readonly brokenWords: number;
  readonly labels: readonly string[];
  readonly links: readonly string[];
  /** Requests to other origins, and what the page wrote to the console. */
  readonly complaints: readonly string[];
}

const tabs = 3;
const widths = [390, 1_280];
const schemes = ["light", "dark"];

/** Opens a tab. @returns what visits a page in it. */
const openTab = async (browser: Browser, origin: string) => {
  // axe is injected, which the pages' policy would not allow
  const context = await browser.newContext({ colorScheme: "light", bypassCSP: true, locale: "en-US" });
  const page = await context.newPage();
  let complaints: string[] = [];
  let requested: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol === "data:") return;
    if (url.origin === origin) requested.push(url.pathname + url.search);
    else complaints.push(request.url());
  });
  page.on("console", (message) => {
    if (!message.text().startsWith("@scalar/api-reference@")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(45_000);
  const visit = async (path: string, ready: string): Promise<Visit> => {
    // what the page that is left still requests would be counted
    await page.goto("about:blank");
    complaints = [];
    requested = [];
    await page.goto(`${origin}${path}`);
    await page.locator(ready).first().waitFor();
    const violations: string[] = [];
    const overflows: number[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      overflows.push(await page.evaluate<number>(overflow));
      for (const scheme of schemes) {
        await page.evaluate(`document.documentElement.dataset.theme = "${scheme}"`);
        const found = await check(page, scheme !== schemes[0]);
        violations.push(...found.map((one) => `${path} at ${width} in ${scheme}: ${one}`));
      }
    }
    return {
      ...{ path, requested, violations, overflows, complaints },
      brokenWords: await page.evaluate<number>(brokenWords),
      labels: await page.evaluate<string[]>(labels),
      links: await page.evaluate<string[]>(links),
    };
  };
  return { visit, close: () => context.close() };
};

/**
 * Opens each page once, and looks at it in both widths and schemes, in a few tabs: some compute while others load.
 *
 * @param readyOf returns what a page shows when it is complete.
 */
export const walk = async (
  browser: Browser,
  origin: string,
  paths: readonly string[],
  readyOf: (path: string) => string,
): Promise<Visit[]> => {
  const visits: Visit[] = [];
  const waiting = [...paths];
  const walker = async () => {
    const { visit, close } = await openTab(browser, origin);
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift())
      visits.push(await visit(path, readyOf(path)));
    await close();
  };
  await Promise.all(Array.from({ length: tabs }, walker));
  return visits;
};
