import { Readable } from "node:stream";
import { type buildConnector, Client } from "undici";
import { readText } from "#lib/read-text.ts";
import { guardConnector } from "./address-guard.ts";
import { ChannelFailure } from "./channel.ts";

export interface ChannelRequest {
  readonly method: "GET" | "POST";
  readonly origin: string;
  /** With the query, if there is one. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | null;
}

/** A platform's whole answer. */
export interface ChannelAnswer {
  readonly status: number;
  readonly text: string;
}

export interface ExchangeOptions {
  /** Which addresses may be reached; by default only the public web. */
  readonly connector?: buildConnector.connector | undefined;
  /** From the lookup of the address to the end of the answer; 20 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Whether the signal ends it only before it is written: its outcome would not be known. */
  readonly isUnique?: boolean;
}

/** An answer to one message has some hundred bytes. */
const maxAnswerBytes = 64 * 1024;

const isStream = (body: ChannelRequest["body"]): body is AsyncIterable<Uint8Array> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;

/**
 * Sends a request once, on its own connection: on one that is kept open, a request may be lost with it, and it would not be
 * known whether the platform has it. Redirects are not followed.
 *
 * @throws ChannelFailure which may have left if there was a connection.
 */
export const exchange = async (
  { origin, body, ...rest }: ChannelRequest,
  { connector = guardConnector(), timeoutMs = 20_000, signal, isUnique = false }: ExchangeOptions,
): Promise<ChannelAnswer> => {
  let isConnected = false;
  const stop = new AbortController();
  const onAbort = () => (isUnique && isConnected) || stop.abort();
  signal?.addEventListener("abort", onAbort);
  const timeout = AbortSignal.timeout(timeoutMs);
  // with TLS, it is connected after the handshake
  const connect: buildConnector.connector = (options, callback) =>
    connector(options, (...result) => {
      if (result[1]) isConnected = true;
      callback(...result);
    });
  const client = new Client(origin, { connect, allowH2: false });
  try {
    signal?.throwIfAborted();
    const answer = await client.request({
      ...rest,
      body: isStream(body) ? Readable.from(body, { objectMode: false }) : body,
      reset: true,
      signal: AbortSignal.any([timeout, stop.signal]),
    });
    return { status: answer.statusCode, text: await readText(answer.body, maxAnswerBytes) };
  } catch (error) {
    if (signal?.aborted && !timeout.aborted) throw new ChannelFailure("aborted", isUnique && isConnected);
    const reason = !isConnected ? "not-connected" : timeout.aborted ? "no-answer" : "connection-lost";
    throw new ChannelFailure(reason, isConnected, error);
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await client.destroy().catch(() => {});
  }
};
