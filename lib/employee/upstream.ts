import { HttpRequest } from "@smithy/core/protocols";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { getSetting } from "#lib/config.ts";
import { Fault } from "#lib/http/fault.ts";
import type { Upstream } from "#lib/routes/route.ts";

/** A city's old system over HTTP, in front of which nobody waits longer than 10 s. */
const connectTimeoutMs = 2_000;
const defaultTimeoutMs = 8_000;
/** Before an identity is proved there may be a wait for the throttle. */
export const proofTimeoutMs = 5_000;
/** A list of 20,000 employees is 3 MB; what Lambda may answer is 6 MB. */
const maxAnswerBytes = 5 * 1024 * 1024;

/** What an old system answered, when it answered at all. */
export interface Answer {
  readonly status: number;
  /** The body's JSON, or undefined for anything else, such as an error page. */
  readonly json: unknown;
}

interface Question {
  readonly method: "GET" | "POST";
  /** Below the system's address. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** For connecting, asking and reading together. */
  readonly timeoutMs?: number;
}

/** Only what may be asked twice shares connections: a kept one may turn out to be closed. */
const handlers = {
  GET: new NodeHttpHandler({ connectionTimeout: connectTimeoutMs }),
  POST: new NodeHttpHandler({
    connectionTimeout: connectTimeoutMs,
    httpAgent: { keepAlive: false },
    httpsAgent: { keepAlive: false },
  }),
};

const toRequest = (system: Upstream, { method, path = "", query = {}, form }: Question) => {
  const { protocol, hostname, port, pathname, searchParams } = new URL(getSetting(system));
  return new HttpRequest({
    ...{ method, protocol, hostname },
    path: path ? pathname.replace(/\/$/, "") + path : pathname,
    query: { ...Object.fromEntries(searchParams), ...query },
    ...(port && { port: Number(port) }),
    headers: {
      host: port ? `${hostname}:${port}` : hostname,
      accept: "application/json",
      "accept-encoding": "identity",
      ...(form && { "content-type": "application/x-www-form-urlencoded" }),
    },
    ...(form && { body: new URLSearchParams(form).toString() }),
  });
};

class TooLarge extends Error {
  override readonly name = "TooLarge";
}

const readText = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new TooLarge(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** Old systems call JSON text/html, and may put a byte order mark before it: what counts is the text. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
};

const send = async (
  request: HttpRequest,
  method: Question["method"],
  signal: AbortSignal,
): Promise<Answer> => {
  const { response } = await handlers[method].handle(request, { abortSignal: signal });
  return { status: response.statusCode, json: parse(await readText(response.body as AsyncIterable<Buffer>)) };
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

/** The client also calls a connection that was cut a timeout, but then there is the system call's code. */
const isTimeout = (error: unknown, signal: AbortSignal): boolean => {
  const code = codeOf(error);
  const timedOut = error instanceof Error && error.name === "TimeoutError" && code === undefined;
  return signal.aborted || timedOut || code === "ETIMEDOUT";
};

/** The connection could not be made or was cut (ECONNREFUSED, ECONNRESET, …); a second one may do better. */
const isConnectionFailure = (error: unknown): boolean => codeOf(error)?.startsWith("E") ?? false;

/** A 502 for whatever an old system answered that is not what was agreed; the reason is for the log alone. */
export const badAnswer = (system: Upstream, reason: string): Fault =>
  new Fault(502, "bad_gateway", "The system behind this service failed; try again later", {
    cause: new Error(`${system} gave a bad answer: ${reason}`),
  });

const describeFailure = (error: unknown) => {
  if (error instanceof TooLarge) return error.message;
  return codeOf(error) ?? "no answer";
};

/**
 * Asks an old system. Values go out exactly as they came, redirects are not followed, and a GET whose
 * connection failed is tried once more within the same time.
 *
 * @throws Fault 504 when the system is silent for its time (8 s unless told) or cannot be connected to within 2 s.
 * @throws Fault 502 when it cannot be reached, breaks off, or answers more than 5 MB.
 */
export const ask = async (system: Upstream, question: Question): Promise<Answer> => {
  const request = toRequest(system, question);
  const signal = AbortSignal.timeout(question.timeoutMs ?? defaultTimeoutMs);
  const attempt = () => send(request, question.method, signal);
  try {
    return await attempt().catch((error: unknown) => {
      if (question.method !== "GET" || isTimeout(error, signal) || !isConnectionFailure(error)) throw error;
      return attempt();
    });
  } catch (error) {
    // not the error itself: it may hold the address with what stands in its query
    if (!isTimeout(error, signal)) throw badAnswer(system, describeFailure(error));
    throw new Fault(504, "timeout", "The system behind this service took too long; try again later", {
      cause: new Error(`${system} timed out`),
    });
  }
};
