import { HttpRequest } from "@smithy/core/protocols";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { waiting } from "./log.ts";
import { parseJson, readText, TooLarge } from "./read-text.ts";

/** The response of another system. */
export interface Answer {
  readonly status: number;
  /** The body's JSON, or undefined for anything else, such as an error page. */
  readonly json: unknown;
}

export interface Question {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The system's URL, with its path and query. */
  readonly url: string;
  /** Below the address. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Limits {
  readonly connectTimeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** No response, or an unreadable one. Its message is for the log: it never contains the URL or the request. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly timedOut: boolean;
  /** The connection was not established, so the other side has received nothing of the request. */
  readonly unsent: boolean;

  constructor(message: string, { timedOut, unsent }: { timedOut: boolean; unsent: boolean }) {
    super(message);
    this.timedOut = timedOut;
    this.unsent = unsent;
  }
}

const toRequest = ({ method, url, path = "", query = {}, headers, body }: Question) => {
  const { protocol, hostname, port, pathname, searchParams } = new URL(url);
  return new HttpRequest({
    ...{ method, protocol, hostname },
    path: path ? pathname.replace(/\/$/, "") + path : pathname,
    query: { ...Object.fromEntries(searchParams), ...query },
    ...(port && { port: Number(port) }),
    headers: {
      host: port ? `${hostname}:${port}` : hostname,
      accept: "application/json",
      "accept-encoding": "identity",
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

/** The client reports a cut connection as a timeout too, but with the code of the system call. */
const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && error.name === "TimeoutError" && codeOf(error) === undefined;

const isTimeout = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || isConnectTimeout(error) || codeOf(error) === "ETIMEDOUT";

/** Whether resolving or connecting to the host failed; a name with several addresses fails once for each. */
const isUnsent = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.every(isUnsent);
  const call = error instanceof Error && "syscall" in error ? error.syscall : undefined;
  return isConnectTimeout(error) || call === "connect" || call === "getaddrinfo";
};

/** The connection could not be made or was cut (ECONNREFUSED, ECONNRESET, …); a second one may succeed. */
const isConnectionFailure = (error: unknown): boolean => codeOf(error)?.startsWith("E") ?? false;

const describe = (error: unknown) =>
  error instanceof TooLarge ? error.message : (codeOf(error) ?? "no answer");

/**
 * Creates an HTTP client of another system. It sends values unchanged, does not follow redirects, and retries
 * once, within the same time, a GET whose connection failed; others are sent once.
 *
 * @returns a function that sends one request. @throws NoAnswer
 */
export const httpClient = ({ connectTimeoutMs, maxAnswerBytes }: Limits) => {
  /** Only requests that may be repeated share connections: an idle one may turn out to be closed. */
  const once = new NodeHttpHandler({
    connectionTimeout: connectTimeoutMs,
    httpAgent: { keepAlive: false },
    httpsAgent: { keepAlive: false },
  });
  const handlers = {
    GET: new NodeHttpHandler({ connectionTimeout: connectTimeoutMs }),
    POST: once,
    PUT: once,
    DELETE: once,
  };

  return async (question: Question, totalTimeoutMs: number): Promise<Answer> => {
    const { method } = question;
    const request = toRequest(question);
    const signal = AbortSignal.timeout(totalTimeoutMs);
    const attempt = async (): Promise<Answer> => {
      const { response } = await handlers[method].handle(request, { abortSignal: signal });
      const text = await readText(response.body as AsyncIterable<Buffer>, maxAnswerBytes);
      // legacy systems declare JSON as text/html: only the text counts
      return { status: response.statusCode, json: parseJson(text) };
    };
    const attempts = () =>
      attempt().catch((error: unknown) => {
        if (method !== "GET" || isTimeout(error, signal) || !isConnectionFailure(error)) throw error;
        return attempt();
      });
    try {
      return await waiting("http_ms", attempts());
    } catch (error) {
      // not the error itself: it may contain the URL with its query
      throw new NoAnswer(describe(error), { timedOut: isTimeout(error, signal), unsent: isUnsent(error) });
    }
  };
};
