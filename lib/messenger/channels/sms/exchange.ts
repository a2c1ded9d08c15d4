import { type buildConnector, Client } from "undici";
import { guardConnector } from "../../accept/address-guard.ts";
import { ChannelFailure } from "../channel.ts";
import type { GatewayRequest } from "./request.ts";

/** A gateway's whole answer. */
export interface GatewayAnswer {
  readonly status: number;
  readonly text: string;
}

/** From the lookup of the address to the end of the answer. */
const defaultTimeoutMs = 20_000;
/** An answer to one message has some hundred bytes. */
const maxAnswerBytes = 64 * 1024;

const read = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/**
 * Sends a request once, on its own connection: on one that is kept open, a request may be lost with it, and it would not be
 * known whether the gateway has it. Redirects are not followed.
 *
 * @throws ChannelFailure which may have left if there was a connection.
 */
export const exchange = async (
  request: GatewayRequest,
  { connector = guardConnector(), timeoutMs = defaultTimeoutMs }: ExchangeOptions,
): Promise<GatewayAnswer> => {
  let isConnected = false;
  // with TLS, it is connected after the handshake
  const connect: buildConnector.connector = (options, callback) =>
    connector(options, (...result) => {
      if (result[1]) isConnected = true;
      callback(...result);
    });
  const signal = AbortSignal.timeout(timeoutMs);
  const { origin, ...rest } = request;
  const client = new Client(origin, { connect, allowH2: false });
  try {
    const { statusCode, body } = await client.request({ ...rest, reset: true, signal });
    return { status: statusCode, text: await read(body) };
  } catch (error) {
    const reason = !isConnected ? "not-connected" : signal.aborted ? "no-answer" : "connection-lost";
    throw new ChannelFailure(reason, isConnected, error);
  } finally {
    await client.destroy().catch(() => {});
  }
};

export interface ExchangeOptions {
  /** Which addresses may be reached; by default only the public web. */
  readonly connector?: buildConnector.connector | undefined;
  readonly timeoutMs?: number | undefined;
}
