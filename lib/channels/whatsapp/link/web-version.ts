import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from "baileys";
import { log } from "#lib/log.ts";
import { readText } from "#lib/read-text.ts";

const timeoutMs = 10_000;
const maxBytes = 2 * 1024 * 1024;
/** Revisions grow by about 15 million a year: one that is much larger is a typing error. */
const maxAhead = 100_000_000;

/** As baileys sends them: without a browser's headers the platform answers with an error. */
const headers = {
  "sec-fetch-site": "none",
  "user-agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
};

/** The version that the library announces by itself. */
export const ownVersion: WAVersion = DEFAULT_CONNECTION_CONFIG.version;

/**
 * @returns undefined unless the text is a version that can be announced, such as `2.3000.1043857760`: not older than the
 *   library's, and different only in its revision.
 */
export const parseVersion = (text: string): WAVersion | undefined => {
  const [major, minor, own] = ownVersion;
  const [, prefix, digits] = /^(\d+\.\d+)\.(\d{1,10})$/.exec(text.trim()) ?? [];
  const revision = Number(digits);
  if (prefix !== `${major}.${minor}` || revision < own || revision > own + maxAhead) return undefined;
  return [major, minor, revision];
};

/**
 * Reads the current version from the web client's service worker, as baileys' `fetchLatestWaWebVersion` does, but
 * with limits on time and size and from a URL that can be set. The page says only the revision.
 */
const fetchVersion = async (url: string, signal: AbortSignal): Promise<WAVersion | undefined> => {
  try {
    const response = await fetch(url, {
      headers,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!response.ok) throw new Error(`the page with the current version answered ${response.status}`);
    const page = response.body ? await readText(response.body, maxBytes) : "";
    const [, revision] = /\\?"client_revision\\?":\s*(\d{1,10})(?!\d)/.exec(page) ?? [];
    return revision === undefined ? undefined : parseVersion(`${ownVersion[0]}.${ownVersion[1]}.${revision}`);
  } catch (error) {
    log.warn("cannot read the current version of the web client", { error });
    return undefined;
  }
};

/** Which version of the web client this account announces. */
export class AnnouncedVersion {
  readonly #url: string | undefined;
  #version: WAVersion;
  #hasLookedUp = false;

  /** @param configured the stage's version, which is announced unless a newer library has overtaken it. */
  constructor(configured: string | undefined, url: string | undefined) {
    this.#url = url;
    this.#version = (configured && parseVersion(configured)) || ownVersion;
  }

  get current(): WAVersion {
    return this.#version;
  }

  /**
   * Looks up the current version, once until `reset()`.
   *
   * @returns whether it is newer; then it is announced until the messenger ends.
   */
  async update(signal: AbortSignal): Promise<boolean> {
    if (this.#hasLookedUp || this.#url === undefined) return false;
    this.#hasLookedUp = true;
    const found = await fetchVersion(this.#url, signal);
    if (!found || found[2] <= this.#version[2]) return false;
    this.#version = found;
    log.warn("a newer version of the web client is announced until a restart", { version: found.join(".") });
    return true;
  }

  reset(): void {
    this.#hasLookedUp = false;
  }
}
