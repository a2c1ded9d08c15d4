import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { vi } from "vitest";
import { launch } from "./chromium.ts";

/**
 * A real browser out of an npm package, also for root. It is unpacked into a folder of its own: the package
 * would share one with every other run, and take a half unpacked one for whole.
 */
export const launchBrowser = async () => {
  const folder = mkdtempSync(join(tmpdir(), "browser-"));
  vi.stubEnv("TMPDIR", folder);
  const browser = await launch(await chromium.executablePath());
  const close = async () => {
    await browser.close();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  };
  return { browser, close };
};
