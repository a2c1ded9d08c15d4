import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from "baileys";
import { log } from "#lib/log.ts";
import type { Standing } from "./standing.ts";

const timeoutMs = 10_000;
const maxBytes = 2 * 1024 * 1024;
/** The protocol sends each part as an unsigned integer of 32 bits. */
const maxPart = 2 ** 32 - 1;

/** As baileys sends them: without a browser's headers the platform answers with an error. */
const headers = {
  "sec-fetch-site": "none",
  "user-agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
};

/** The version that the library announces by itself. */
export const ownVersion: WAVersion = DEFAULT_CONNECTION_CONFIG.version;

/** @returns undefined unless the text is a version such as `2.3000.1043857760`. */
export const parseVersion = (text: string): WAVersion | undefined => {
  const [, ...parts] = /^(\d{1,2})\.(\d{1,5})\.(\d{1,10})$/.exec(text.trim())?.map(Number) ?? [];
  return parts.length === 3 && parts.every((part) => part <= maxPart) ? (parts as WAVersion) : undefined;
};

export const isOlder = (version: WAVersion, other: WAVersion): boolean => {
  const index = version.findIndex((part, at) => part !== other[at]);
  return index >= 0 && (version[index] ?? 0) < (other[index] ?? 0);
};

const readAtMost = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error("the page with the current version is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
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
    const [, revision] = /\\?"client_revision\\?":\s*(\d{1,10})(?!\d)/.exec(await readAtMost(response)) ?? [];
    return revision === undefined ? undefined : parseVersion(`${ownVersion[0]}.${ownVersion[1]}.${revision}`);
  } catch (error) {
    log.warn("cannot read the current version of the web client", { error });
    return undefined;
  }
};

/** Which version this connection announces. */
export class AnnouncedVersion {
  readonly #standing: Standing;
  readonly #url: string | undefined;
  #hasLookedUp = false;

  constructor(standing: Standing, url: string | undefined) {
    this.#standing = standing;
    this.#url = url;
  }

  /** The stored version, unless a newer library has overtaken it. */
  async read(): Promise<WAVersion> {
    const stored = await this.#standing.findVersion();
    return stored && isOlder(ownVersion, stored) ? stored : ownVersion;
  }

  /** Looks up the current version, once until `reset()`. @returns whether it is newer and will be announced. */
  async update(signal: AbortSignal): Promise<boolean> {
    if (this.#hasLookedUp || this.#url === undefined) return false;
    this.#hasLookedUp = true;
    const found = await fetchVersion(this.#url, signal);
    if (!found || !isOlder(await this.read(), found)) return false;
    await this.#standing.storeVersion(found);
    log.info("a newer version of the web client is announced from now on", { version: found.join(".") });
    return true;
  }

  reset(): void {
    this.#hasLookedUp = false;
  }
}
