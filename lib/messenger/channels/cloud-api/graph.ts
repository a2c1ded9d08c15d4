import { Readable } from "node:stream";
import { type buildConnector, Client } from "undici";
import * as z from "zod/mini";
import type { CloudApiSettings } from "#lib/messaging/channel-settings.ts";
import { guardConnector } from "../../accept/address-guard.ts";
import { ChannelFailure } from "../channel.ts";

const maxAnswerBytes = 64 * 1024;

/** @see https://developers.facebook.com/docs/graph-api/guides/error-handling */
const Rejection = z.object({ error: z.object({ code: z.int() }) });

export interface Answer {
  readonly status: number;
  /** Undefined for anything but JSON, such as an error page. */
  readonly json: unknown;
  /** Of the API's error; without one that of HTTP, if it says that the request was not accepted: 401 or 429. */
  readonly code: number | undefined;
}

export interface Question {
  readonly method: "GET" | "POST";
  /** Below the API's URL, with a query if there is one. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** From the lookup of the address to the end of the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether the signal ends it only before it is written: its outcome would not be known. */
  readonly isUnique?: boolean;
}

const readJson = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxAnswerBytes) return undefined;
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
};

const read = async (status: number, body: AsyncIterable<Buffer>): Promise<Answer> => {
  const json = await readJson(body);
  const { data } = Rejection.safeParse(json);
  return { status, json, code: data?.error.code ?? ([401, 429].includes(status) ? status : undefined) };
};

/** A connection for one request. @param onOpen called before the request is written. */
const openClient = (origin: string, connector: buildConnector.connector, onOpen: () => void): Client =>
  new Client(origin, {
    connect: (options, done) =>
      connector(options, (...result) => {
        if (result[1]) onOpen();
        done(...result);
      }),
    ...{ allowH2: false, headersTimeout: 0, bodyTimeout: 0 },
  });

/**
 * Makes requests to the Graph API, each once and over its own connection: one that is written to an idle connection as that
 * is closed may have been received or not.
 *
 * @throws ChannelFailure without an answer; while there was no connection, nothing has left.
 */
export const graphClient =
  (connector: buildConnector.connector = guardConnector()) =>
  async (
    { url, access_token }: Pick<CloudApiSettings, "url" | "access_token">,
    { method, path, headers, body, timeoutMs, signal, isUnique = false }: Question,
  ): Promise<Answer> => {
    const { origin, pathname } = URL.parse(url) ?? {};
    if (!origin || !pathname) throw new ChannelFailure("not-connected", false);
    let isOpen = false;
    const stop = new AbortController();
    const onAbort = () => (isUnique && isOpen) || stop.abort();
    signal.addEventListener("abort", onAbort);
    const timeout = AbortSignal.timeout(timeoutMs);
    const client = openClient(origin, connector, () => {
      isOpen = true;
    });
    try {
      signal.throwIfAborted();
      const answer = await client.request({
        ...{ method, path: pathname.replace(/\/$/, "") + path, reset: true },
        body:
          body && Symbol.asyncIterator in body ? Readable.from(body, { objectMode: false }) : (body ?? null),
        headers: { authorization: `Bearer ${access_token}`, accept: "application/json", ...headers },
        signal: AbortSignal.any([timeout, stop.signal]),
      });
      return await read(answer.statusCode, answer.body);
    } catch (error) {
      if (signal.aborted && !timeout.aborted) throw new ChannelFailure("aborted", isUnique && isOpen);
      if (!isOpen) throw new ChannelFailure("not-connected", false, error);
      throw new ChannelFailure(timeout.aborted ? "no-answer" : "connection-lost", true, error);
    } finally {
      signal.removeEventListener("abort", onAbort);
      await client.destroy();
    }
  };

export type Graph = ReturnType<typeof graphClient>;
