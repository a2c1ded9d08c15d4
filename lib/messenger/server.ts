import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type * as z from "zod/mini";
import { ApiError } from "#lib/errors/api-error.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { internal, invalidRequest, messageNotFound, overloaded } from "#lib/errors/table.ts";
import { log } from "#lib/log.ts";
import { ChannelEvents } from "#lib/messaging/channel-events.ts";
import {
  type Accepted,
  Batch,
  type MessagePage,
  MessageQuery,
  type MessageState,
  Owner,
  type Rejected,
  Submission,
} from "#lib/messaging/submission.ts";
import { onceClosed } from "#lib/once-closed.ts";
import { isSameText } from "#lib/opaque-token.ts";
import { parseJson } from "#lib/read-text.ts";
import { ByteBudget } from "./accept/intake.ts";

/** An upload of 4 MiB, the limit of the Lambda function, and its headers. */
const maxBodyBytes = 5 * 1024 * 1024;
/** For a request to arrive as a whole: the send functions give up after 8 s. Fastify has no limit by default. */
const receiveTimeoutMs = 10_000;
/** For the next request of a connection. */
const idleTimeoutMs = 72_000;
/** A request's body takes twice its size while it is read and stored; decoding an image takes up to 270 MiB more. */
const maxBytesInFlight = 40 * 1024 * 1024;
/** An image from a URL is read as a whole, a file in pieces. */
const maxImageDownloadBytes = 16 * 1024 * 1024;

export interface Health {
  readonly database: boolean;
  readonly leader: boolean;
  /** The state of the WhatsApp connection, if this task is the leader. */
  readonly platform: string;
  readonly paused: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Gives a body's bytes back when its caller goes, or later when its handler has ended. */
    giveBody: (() => void) | undefined;
    /** Of the message that the request is about, once it is known to be an id. */
    messageId: string | undefined;
    /** Who sends the message, or asks for it. */
    sender: string | undefined;
  }
}

export interface ServerOptions {
  /**
   * Lists the valid internal tokens: one, or two after a rotation.
   * @param refresh whether the cached ones did not match.
   */
  readonly findTokens: (refresh: boolean) => Promise<readonly string[]>;
  /** @param signal aborted when the caller has gone. */
  readonly accept: (
    submission: Submission,
    inline: Uint8Array | undefined,
    signal: AbortSignal,
  ) => Promise<Accepted>;
  /** @returns the ids, in the order of the submissions. */
  readonly acceptBatch: (submissions: readonly Submission[]) => Promise<string[]>;
  readonly findState: (id: string, sender: string) => Promise<MessageState | undefined>;
  readonly listMessages: (query: MessageQuery) => Promise<MessagePage>;
  readonly cancel: (id: string, sender: string) => Promise<MessageState | undefined>;
  /** @returns how many reports concern messages of the account; undefined for an unknown account. */
  readonly applyEvents: (events: ChannelEvents) => Promise<number | undefined>;
  /** The state of the WhatsApp connection, while pairing with the QR code. */
  readonly findConnection: () => Record<string, unknown>;
  readonly checkHealth: () => Promise<Health>;
  readonly timeouts?: { readonly receiveMs: number; readonly idleMs: number };
}

const accountNotFound = { status: 404, code: "not_found", message: "There is no such account" };

const requireToken = async ({ findTokens }: ServerOptions, { headers }: FastifyRequest): Promise<void> => {
  const presented = headers.authorization?.match(/^Bearer (.+)$/i)?.[1] ?? "";
  // compares with all of them: the time must not reveal which one matched
  const matches = async (refresh: boolean) =>
    (await findTokens(refresh)).filter((token) => isSameText(token, presented)).length > 0;
  if ((await matches(false)) || (await matches(true))) return;
  throw new ApiError({ status: 401, code: "unauthorized", message: "The internal credential is not valid" });
};

const read = <T>(schema: z.ZodMiniType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join(".") || "(whole)");
  throw badRequest(`Invalid fields in the request: ${fields.join(", ")}`);
};

const readSubmission = ({ headers, body }: FastifyRequest) => {
  const inline = Buffer.isBuffer(body) ? body : undefined;
  const described = inline ? decode(String(headers["x-submission"] ?? "")) : body;
  return { submission: read(Submission, described), inline };
};

const decode = (text: string): unknown => parseJson(Buffer.from(text, "base64url").toString());

/** The id of the caller's request, as the gateway made it; our own for other callers. */
const identify = ({ headers }: { headers: Record<string, string | string[] | undefined> }): string =>
  /^[\w-]{1,64}$/.exec(String(headers["x-request-id"] ?? ""))?.[0] ?? randomUUID();

const sendFault = (error: unknown, { id }: FastifyRequest, reply: FastifyReply) => {
  const fault = toFault(error);
  // an abort: the caller has gone, and nothing was stored
  if (fault.status >= 500 && (error as Error).name !== "AbortError")
    log.error("request failed", { request_id: id, status: fault.status, error });
  const { status, code, message, retryAfterSeconds } = fault;
  return reply
    .code(status)
    .send({ code, message, retry_after_seconds: retryAfterSeconds } satisfies Rejected);
};

/** Errors of Fastify below 500 retain their status; any other error comes from the database. */
const toFault = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 500) return new ApiError({ ...invalidRequest("The request is malformed"), status });
  // not 503: whether a message was stored is not known when the connection broke at its commit
  return new ApiError(internal);
};

/** Builds the HTTP server for the send endpoints, and the health check. It does not listen yet. */
export const buildServer = (options: ServerOptions): FastifyInstance => {
  const { receiveMs, idleMs } = options.timeouts ?? { receiveMs: receiveTimeoutMs, idleMs: idleTimeoutMs };
  const server = Fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: "idle",
    requestTimeout: receiveMs,
    genReqId: identify,
    keepAliveTimeout: idleMs,
    // Node exchanges the two if that of the headers, 60 s by default, is longer
    http: { headersTimeout: receiveMs, connectionsCheckingInterval: receiveMs / 10 },
  });
  server.addContentTypeParser("application/octet-stream", { parseAs: "buffer" }, (_, body, done) =>
    done(null, body),
  );
  server.setErrorHandler(sendFault);
  server.setNotFoundHandler((request, reply) =>
    sendFault(
      new ApiError({ status: 404, code: "not_found", message: "This path does not exist" }),
      request,
      reply,
    ),
  );

  server.register(async (internal) => {
    const budget = new ByteBudget(maxBytesInFlight);
    const take = (bytes: number) => {
      const give = budget.take(bytes);
      if (give) return give;
      throw new ApiError(overloaded);
    };
    // not in WeakMaps: each garbage collection would go through them
    for (const name of ["giveBody", "messageId", "sender"] as const)
      internal.decorateRequest(name, undefined);
    internal.addHook("onRequest", (request) => requireToken(options, request));
    internal.addHook("onResponse", async (request, reply) => {
      const route = `${request.method} ${request.routeOptions.url}`;
      // it is asked all the time
      if (route === "GET /connection" && reply.statusCode === 200) return;
      log.info("request", {
        ...{ request_id: request.id, route, status: reply.statusCode },
        ms: Math.round(reply.elapsedTime),
        ...{ message_id: request.messageId, sender: request.sender },
      });
    });
    internal.addHook("onRequest", async (request, reply) => {
      const { "content-length": length = 0, "transfer-encoding": encoding } = request.headers;
      // a longer one is rejected with 413 before it is read
      request.giveBody = take(encoding ? maxBodyBytes : Math.min(Number(length), maxBodyBytes));
      onceClosed(reply.raw, () => request.giveBody?.());
    });
    internal.post("/messages", async (request, reply) => {
      const { giveBody } = request;
      request.giveBody = undefined;
      const caller = new AbortController();
      onceClosed(reply.raw, () => {
        // an abort makes an error with its stack, 5 µs
        if (!reply.raw.writableFinished) caller.abort();
      });
      try {
        const { submission, inline } = readSubmission(request);
        const { kind, url, sender } = submission;
        request.sender = sender;
        const giveDownload = take(kind === "image" && url !== undefined ? maxImageDownloadBytes : 0);
        const accepted = await options.accept(submission, inline, caller.signal).finally(giveDownload);
        request.messageId = accepted.id;
        return reply.code(201).send(accepted);
      } finally {
        giveBody?.();
      }
    });
    internal.post("/messages/batch", async (request, reply) => {
      const { submissions } = read(Batch, request.body);
      request.sender = submissions[0]?.sender;
      return reply.code(201).send({ ids: await options.acceptBatch(submissions) });
    });
    internal.get<{ Params: { id: string } }>("/messages/:id", async (request) => {
      const { sender } = read(Owner, request.query);
      request.sender = sender;
      const state = await options.findState(request.params.id, sender);
      if (!state) throw new ApiError(messageNotFound);
      request.messageId = state.id;
      return state;
    });
    internal.get("/messages", (request) => {
      const query = read(MessageQuery, request.query);
      request.sender = query.sender;
      return options.listMessages(query);
    });
    internal.delete<{ Params: { id: string } }>("/messages/:id", async (request) => {
      const { sender } = read(Owner, request.query);
      request.sender = sender;
      const state = await options.cancel(request.params.id, sender);
      if (!state) throw new ApiError(messageNotFound);
      request.messageId = state.id;
      return state;
    });
    internal.post("/channel-events", async (request) => {
      const applied = await options.applyEvents(read(ChannelEvents, request.body));
      if (applied === undefined) throw new ApiError(accountNotFound);
      return { applied };
    });
    internal.get("/connection", async () => options.findConnection());
  });

  // always 200: restarting the task does not fix an unavailable database or platform
  server.get("/health", async () => ({ process: true, ...(await options.checkHealth()) }));
  return server;
};
