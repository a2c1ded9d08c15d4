import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { guardConnector } from "#lib/channels/address-guard.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { uploadTooLarge } from "#lib/errors/table.ts";
import { log } from "#lib/log.ts";
import { findFileName, fromUtf8 } from "./file-name.ts";

const maxRedirects = 3;
const redirectStatuses = [301, 302, 303, 307, 308];

const requestHeaders = {
  accept: "*/*",
  // most formats are compressed already; servers that compress nevertheless are decoded below
  "accept-encoding": "identity",
  "user-agent": "municipal-messaging-gateway/1.0",
};

/** The content codings of RFC 9110, 8.4.1; its deflate has the zlib wrapper. */
const decoders = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

interface DownloadOptions {
  /** Of the content after decompression. */
  readonly maxBytes: number;
  /** Which addresses are allowed; only the public web by default. */
  readonly connector?: buildConnector.connector | undefined;
  /** From the first lookup to the last byte. */
  readonly timeoutMs?: number | undefined;
}

/** A download whose headers have arrived. */
export interface Download {
  /** Can be read once; reading slowly does not extend the timeout. */
  readonly body: AsyncIterable<Buffer>;
  /** `type/subtype` in lower case without parameters, as sent by the server; not checked against the content. */
  readonly contentType: string | undefined;
  /** Safe to store and display, at most 200 characters. */
  readonly fileName: string | undefined;
  /** Discards the rest. Required unless `body` is read to its end. */
  readonly close: () => Promise<void>;
}

const tooLarge = (maxBytes: number) =>
  new ApiError(uploadTooLarge(`The file at the URL is larger than ${maxBytes} bytes. Use a smaller file.`));

const tooSlow = (timeoutMs: number) =>
  badRequest(`The download took longer than ${timeoutMs / 1000} s; use a smaller file or a faster server`);

/** By the error codes of Node and OpenSSL. */
const tlsFaults: readonly (readonly [RegExp, string])[] = [
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    "The certificate of the URL's server has expired, or is not valid yet",
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "The certificate of the URL's server is for another name"],
  [
    /SELF_SIGNED|^UNABLE_TO_|^CERT_|^INVALID_/,
    "The certificate of the URL's server is not of a public authority, or comes without its intermediate certificates",
  ],
  [/^ERR_SSL_|^EPROTO$/, "The URL's server does not offer a current version of TLS"],
];

/**
 * The same answer for every other network error, so that callers cannot scan networks with it. The error itself is
 * not logged: it may contain a signed URL.
 */
const unreachable = (error: unknown): ApiError => {
  const reason = error instanceof Error && "code" in error ? String(error.code) : "no answer";
  log.warn("download failed", { reason });
  const fault = tlsFaults.find(([codes]) => codes.test(reason));
  if (fault) return badRequest(`${fault[1]}; have it corrected there, or use another URL`);
  return badRequest("The URL could not be fetched; check that it opens from the internet, then try again");
};

const parseUrl = (text: string, base?: URL): URL => {
  const url = URL.parse(text, base?.href);
  if (!url)
    throw badRequest("The URL is invalid; use an absolute one such as https://example.org/letter.pdf");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw badRequest("The URL must begin with http:// or https://");
  if (url.username || url.password)
    throw badRequest("The URL must not contain a user name or password; use one that opens without a login");
  return url;
};

const findHeader = (response: Dispatcher.ResponseData, name: string): string | undefined => {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** Requests a URL and follows redirects, each checked by the connector. */
const follow = async (agent: Agent, first: URL, signal: AbortSignal) => {
  let url = first;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await agent.request({
      method: "GET",
      origin: url.origin,
      path: url.pathname + url.search,
      headers: requestHeaders,
      signal,
    });
    if (response.statusCode === 200) return { response, url };
    response.body.on("error", () => {}).destroy();
    const location = findHeader(response, "location");
    if (!redirectStatuses.includes(response.statusCode) || location === undefined)
      throw badRequest(
        `The URL answered ${response.statusCode} instead of 200; use one that opens without a login`,
      );
    url = parseUrl(fromUtf8(location), url);
  }
  throw badRequest(`The URL redirects more than ${maxRedirects} times; use the final URL`);
};

const limit = async function* (source: AsyncIterable<Buffer>, maxBytes: number, reportedBytes = maxBytes) {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(reportedBytes);
    yield chunk;
  }
};

const findCoding = (response: Dispatcher.ResponseData): string =>
  findHeader(response, "content-encoding")?.trim().toLowerCase() || "identity";

/** Compression makes random bytes longer: deflate by 5 bytes in 16 KiB, servers that flush often by more. */
const maxCompressedBytes = (maxBytes: number) => Math.ceil(maxBytes * 1.02) + 1024;

const decode = (response: Dispatcher.ResponseData, maxBytes: number): AsyncIterable<Buffer> => {
  const coding = findCoding(response);
  if (coding === "identity") return response.body;
  if (!Object.hasOwn(decoders, coding))
    throw badRequest(
      "The URL answers with a content encoding other than gzip, deflate and br; use another URL",
    );
  // the compressed bytes are limited too: endless ones may decompress to nothing
  const source = limit(response.body, maxCompressedBytes(maxBytes), maxBytes);
  return pipeline(source, decoders[coding as keyof typeof decoders](), () => {});
};

const announcesTooMuch = (response: Dispatcher.ResponseData, maxBytes: number): boolean => {
  const most = findCoding(response) === "identity" ? maxBytes : maxCompressedBytes(maxBytes);
  return Number(findHeader(response, "content-length")) > most;
};

const findContentType = (response: Dispatcher.ResponseData): string | undefined => {
  const [type] =
    /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(findHeader(response, "content-type")?.trim() ?? "") ?? [];
  return type?.toLowerCase();
};

/**
 * Starts a download from a URL that a caller gave, by default from the public web only (`guardConnector`). Sends
 * no cookies and no credentials and follows at most 3 redirects.
 *
 * Opening it and reading `body` throw the same errors:
 * @throws ApiError 400 for a URL that is not allowed, cannot be fetched, does not answer 200, or
 *   takes longer than 20 s in all; the message says how to fix it.
 * @throws ApiError 413 PAYLOAD_TOO_LARGE as soon as it is known that there are more than `maxBytes`.
 */
export const openDownload = async (
  url: string,
  { maxBytes, connector = guardConnector(), timeoutMs = 20_000 }: DownloadOptions,
): Promise<Download> => {
  const first = parseUrl(url);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(tooSlow(timeoutMs)), timeoutMs);
  // one agent per download: no connection is reused by another download
  const agent = new Agent({ connect: connector, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const close = async () => {
    clearTimeout(timer);
    await agent.destroy();
  };
  const toFault = (error: unknown): unknown => {
    if (stop.signal.aborted) return stop.signal.reason;
    return error instanceof ApiError ? error : unreachable(error);
  };
  const read = async function* (source: AsyncIterable<Buffer>) {
    try {
      yield* limit(source, maxBytes);
    } catch (error) {
      throw toFault(error);
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
    throw toFault(error);
  }
};
