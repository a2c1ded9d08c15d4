import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { vi } from "vitest";

/*
 * Meant for Lambda, the package runs everything in one process, which dies with the first page that is
 * closed, and turns off what keeps origins apart, which is what the tests are to see.
 */
const leftOut = new Set([
  ...["--single-process", "--no-zygote", "--disable-web-security"],
  ...["--allow-running-insecure-content", "--disable-site-isolation-trials", "--headless='shell'"],
]);

/**
 * A real browser out of an npm package, also for root. It is unpacked into a folder of its own: the package
 * would share one with every other run, and take a half unpacked one for whole.
 */
export const launchBrowser = async () => {
  const folder = mkdtempSync(join(tmpdir(), "browser-"));
  vi.stubEnv("TMPDIR", folder);
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((argument) => !leftOut.has(argument)),
  });
  const close = async () => {
    await browser.close();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  };
  return { browser, close };
};
