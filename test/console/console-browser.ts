import { onTestFinished, vi } from "vitest";
import type { ConsoleOptions } from "#lib/console/console.ts";
import { pageNames, pathOfPage } from "#lib/console/page.ts";
import { createConsole, operator } from "../steps/console.ts";

export const host = "localhost:8080";
/** Headers of a form that the console's own page sends. */
export const ownPage = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };

/** The paths of all actions. */
export const actions = [
  "/pause",
  "/resume",
  "/pairing-code",
  "/unlink",
  "/log-in",
  "/opt-out",
  "/opt-in",
  "/answer",
  "/no-answer",
  "/cancel-run",
  "/search",
  "/bulk/bulk-preview",
  "/bulk/bulk-start",
  "/bulk/template-add",
  "/bulk/template-approve",
  "/bulk/template-retire",
];

/** Captures log lines until the test ends. */
export const captureLog = (): string[] => {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  onTestFinished(() => spy.mockRestore());
  return lines;
};

/** Starts a console with a simulated browser, which stores `browser.cookie`; `lines` are its log. */
export const open = (more: Partial<ConsoleOptions> = {}) => {
  const lines = captureLog();
  const { server, messenger } = createConsole({ wait: async () => {}, ...more });
  onTestFinished(() => server.close());
  const browser = { cookie: "" };
  const storeCookie = (setCookie: string) => {
    const [pair = ""] = setCookie.split(";");
    browser.cookie = /Max-Age=0/.test(setCookie) ? "" : pair;
  };
  const get = (path = "", headers: Record<string, string> = {}) =>
    server.inject({ url: `/console${path}`, headers: { host, cookie: browser.cookie, ...headers } });
  const post = async (
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = ownPage,
  ) => {
    const response = await server.inject({
      method: "POST",
      url: `/console${path}`,
      headers: { cookie: browser.cookie, "content-type": "application/x-www-form-urlencoded", ...headers },
      payload: new URLSearchParams(fields).toString(),
    });
    if (response.headers["set-cookie"]) storeCookie(String(response.headers["set-cookie"]));
    return response;
  };
  /** All pages, one after the other. */
  const look = async (headers?: Record<string, string>) => {
    const bodies: string[] = [];
    for (const name of pageNames)
      bodies.push((await get(pathOfPage(name).replace("/console", ""), headers)).body);
    return bodies.join("\n");
  };
  return { server, messenger, lines, browser, get, look, post, logIn: () => post("/login", operator) };
};

export const openLoggedIn = async (more?: Partial<ConsoleOptions>) => {
  const city = open(more);
  await city.logIn();
  return city;
};
