import { addAbortListener } from "node:events";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { uploadTooLarge } from "#lib/faults/table.ts";
import { log } from "#lib/log.ts";
import { guardConnector } from "./address-guard.ts";
import { findFileName } from "./file-name.ts";

const maxRedirects = 3;
const redirectStatuses = [301, 302, 303, 307, 308];

const requestHeaders = {
  accept: "*/*",
  // files and images are compressed in themselves; who compresses all the same is decoded below
  "accept-encoding": "identity",
  "user-agent": "municipal-messaging-gateway/1.0",
};

/** The codings of RFC 9110 8.4.1. Its deflate has the zlib wrapper. */
const decoders = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

interface DownloadOptions {
  /** Of the content after decompression. */
  readonly maxBytes: number;
  /** Ends the download with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** What the download may reach; the public web unless a test or the local system says otherwise. */
  readonly connector?: buildConnector.connector | undefined;
  /** From the first name that is resolved to the last byte that is read. */
  readonly timeoutMs?: number | undefined;
}

/** A file that has begun to arrive. */
export interface Download {
  /** To be read once and in time: reading it slowly does not extend the total time. */
  readonly body: AsyncIterable<Buffer>;
  /** `type/subtype` in lower case without parameters, as the server says; nobody has looked at the content. */
  readonly contentType: string | undefined;
  /** Safe to store and show, at most 200 characters. */
  readonly fileName: string | undefined;
  /** Gives up what has not been read. Needed when `body` is not read to its end; harmless otherwise. */
  readonly close: () => Promise<void>;
}

const tooLarge = (maxBytes: number) =>
  new Fault(uploadTooLarge(`The file at the URL is larger than ${maxBytes} bytes. Give a smaller one.`));

const tooSlow = (timeoutMs: number) =>
  badRequest(`The download took longer than ${timeoutMs / 1000} s; give a smaller file or a faster server`);

/**
 * One and the same answer for every failure of the network, so that nobody can map a network with it. The
 * error itself is not passed on: it may hold the address, and with it what stands in a signed URL.
 */
const unreachable = (error: unknown): Fault => {
  const reason = error instanceof Error && "code" in error ? String(error.code) : "no answer";
  log.warn("download failed", { reason });
  return badRequest("The URL could not be fetched; check that it opens from the internet, and try again");
};

const parseUrl = (text: string, base?: URL): URL => {
  const url = URL.parse(text, base?.href);
  if (!url)
    throw badRequest("The URL cannot be read; give a whole one such as https://example.org/letter.pdf");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw badRequest("The URL must begin with http:// or https://");
  if (url.username || url.password)
    throw badRequest("The URL must hold no user name and no password; give one that opens without a login");
  return url;
};

/** The value of a header that may stand once only. */
const findHeader = (response: Dispatcher.ResponseData, name: string): string | undefined => {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** Asks for a URL and for where it leads, each time through the guard. */
const follow = async (agent: Agent, first: URL, signal: AbortSignal) => {
  let url = first;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const path = url.pathname + url.search;
    const response = await agent.request({
      ...{ method: "GET", origin: url.origin, path },
      ...{ headers: requestHeaders, signal },
    });
    if (response.statusCode === 200) return { response, url };
    response.body.on("error", () => {}).destroy();
    const location = findHeader(response, "location");
    if (!redirectStatuses.includes(response.statusCode) || location === undefined)
      throw badRequest(
        `The URL answered ${response.statusCode} instead of 200; give one that opens without a login`,
      );
    url = parseUrl(location, url);
  }
  throw badRequest(`The URL redirects more than ${maxRedirects} times; give the one where this ends`);
};

const limit = async function* (source: AsyncIterable<Buffer>, maxBytes: number, toldBytes = maxBytes) {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(toldBytes);
    yield chunk;
  }
};

const findCoding = (response: Dispatcher.ResponseData): string =>
  findHeader(response, "content-encoding")?.trim().toLowerCase() || "identity";

/** Packing makes random bytes a little longer: deflate by 5 bytes in 16 KiB, servers that flush by more. */
const maxPackedBytes = (maxBytes: number) => Math.ceil(maxBytes * 1.02) + 1024;

const decode = (response: Dispatcher.ResponseData, maxBytes: number): AsyncIterable<Buffer> => {
  const coding = findCoding(response);
  if (coding === "identity") return response.body;
  if (!Object.hasOwn(decoders, coding))
    throw badRequest("The URL answers in a content encoding other than gzip, deflate and br; give another");
  // what comes in is counted too: megabytes may well unpack to nothing
  const source = limit(response.body, maxPackedBytes(maxBytes), maxBytes);
  return pipeline(source, decoders[coding as keyof typeof decoders](), () => {});
};

const announcesTooMuch = (response: Dispatcher.ResponseData, maxBytes: number): boolean => {
  const most = findCoding(response) === "identity" ? maxBytes : maxPackedBytes(maxBytes);
  return Number(findHeader(response, "content-length")) > most;
};

const findContentType = (response: Dispatcher.ResponseData): string | undefined => {
  const [type] =
    /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(findHeader(response, "content-type")?.trim() ?? "") ?? [];
  return type?.toLowerCase();
};

/**
 * Begins to download a file from an address that a caller gave, on the public web alone: see
 * `guardConnector`. Sends no cookies and no credentials, follows at most 3 redirects, each checked anew.
 *
 * Both opening and reading `body` fail alike:
 * @throws Fault 400 for an address that is refused, cannot be fetched, does not answer 200,
 *   or takes longer than 20 s in all; the message says how to mend it.
 * @throws Fault 413 as soon as it is known that there are more than `maxBytes`.
 * @throws the signal's reason once the signal is aborted.
 */
export const openDownload = async (
  url: string,
  { maxBytes, signal, connector = guardConnector(), timeoutMs = 20_000 }: DownloadOptions,
): Promise<Download> => {
  signal?.throwIfAborted();
  const first = parseUrl(url);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(tooSlow(timeoutMs)), timeoutMs);
  const listener = signal && addAbortListener(signal, () => stop.abort(signal.reason));
  // an agent of its own: no connection outlives the download whose guard let it through
  const agent = new Agent({ connect: connector, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const close = async () => {
    clearTimeout(timer);
    listener?.[Symbol.dispose]();
    await agent.destroy();
  };
  const describe = (error: unknown): unknown => {
    if (stop.signal.aborted) return stop.signal.reason;
    return error instanceof Fault ? error : unreachable(error);
  };
  const read = async function* (source: AsyncIterable<Buffer>) {
    try {
      yield* limit(source, maxBytes);
    } catch (error) {
      throw describe(error);
    } finally {
      await close();
    }
  };

  try {
    const { response, url: last } = await follow(agent, first, stop.signal);
    response.body.on("error", () => {});
    if (announcesTooMuch(response, maxBytes)) throw tooLarge(maxBytes);
    return {
      body: read(decode(response, maxBytes)),
      contentType: findContentType(response),
      fileName: findFileName(findHeader(response, "content-disposition"), last),
      close,
    };
  } catch (error) {
    await close();
    throw describe(error);
  }
};
