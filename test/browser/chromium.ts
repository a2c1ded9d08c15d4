import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

/*
 * Meant for Lambda, the package runs everything in one process, which dies with the first page that is
 * closed, and turns off what keeps origins apart, which is what the tests are to see. Its graphics processor in software
 * draws each frame in tens of milliseconds.
 */
const leftOut = new Set([
  ...["--single-process", "--no-zygote", "--disable-web-security"],
  ...["--allow-running-insecure-content", "--disable-site-isolation-trials", "--headless='shell'"],
  ...["--in-process-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  "--ignore-gpu-blocklist",
]);

export const launch = (executablePath: string) =>
  playwright.launch({
    executablePath,
    args: [...chromium.args.filter((argument) => !leftOut.has(argument)), "--disable-gpu"],
  });
