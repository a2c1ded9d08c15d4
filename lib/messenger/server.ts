import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type * as z from "zod/mini";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { internal, invalidRequest, messageNotFound } from "#lib/faults/table.ts";
import { log } from "#lib/log.ts";
import {
  type Accepted,
  Batch,
  type MessageState,
  type Refused,
  Submission,
} from "#lib/messaging/submission.ts";
import { isSameText } from "#lib/same-text.ts";

/** What a Lambda may hand over, with room for its own limit of 4 MiB. */
const maxBodyBytes = 5 * 1024 * 1024;

/** How the parts of the task are, each by itself. */
export interface Health {
  readonly database: boolean;
  /** Whether this task leads. */
  readonly leader: boolean;
  /** The connection to the platform, as far as this task knows. */
  readonly platform: string;
  readonly paused: boolean;
}

export interface ServerOptions {
  /**
   * The internal credentials that are valid: one, or two after a rotation.
   * @param again whether those that were known did not match: there may be a new one.
   */
  readonly findTokens: (again: boolean) => Promise<readonly string[]>;
  readonly accept: (submission: Submission, inline: Uint8Array | undefined) => Promise<Accepted>;
  /** @returns the ids, in the order of the submissions. */
  readonly acceptBatch: (submissions: readonly Submission[]) => Promise<string[]>;
  readonly findState: (id: string) => Promise<MessageState | undefined>;
  /** The connection to the platform, with what a phone has to scan while it waits for one. */
  readonly findConnection: () => Record<string, unknown>;
  readonly checkHealth: () => Promise<Health>;
  readonly renderMetrics: () => Promise<{ contentType: string; text: string }>;
}

const requireToken = async ({ findTokens }: ServerOptions, { headers }: FastifyRequest): Promise<void> => {
  const presented = headers.authorization?.match(/^Bearer (.+)$/i)?.[1] ?? "";
  // all of them, so that the time does not tell which one it was
  const matches = async (again: boolean) =>
    (await findTokens(again)).filter((token) => isSameText(token, presented)).length > 0;
  if ((await matches(false)) || (await matches(true))) return;
  throw new Fault({ status: 401, code: "unauthorized", message: "The internal credential is not valid" });
};

const read = <T>(schema: z.ZodMiniType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.join(".") || "(whole)");
  throw badRequest(`The submission is not valid at ${fields.join(", ")}`);
};

const readSubmission = ({ headers, body }: FastifyRequest) => {
  const inline = Buffer.isBuffer(body) ? body : undefined;
  const described = inline ? decode(String(headers["x-submission"] ?? "")) : body;
  return { submission: read(Submission, described), inline };
};

const decode = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
};

const refuse = (error: unknown, reply: FastifyReply) => {
  const fault = toFault(error);
  if (fault.status >= 500) log.error("request failed", { status: fault.status, error });
  const { status, code, message, retryAfterSeconds } = fault;
  const body: Refused = {
    code,
    message,
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
  };
  return reply.code(status).send(body);
};

/** Fastify's own refusals keep their status; whatever else fails is the database. */
const toFault = (error: unknown): Fault => {
  if (error instanceof Fault) return error;
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 500) return new Fault({ ...invalidRequest("The request is malformed"), status });
  // not 503: whether a message was stored is not known when the connection broke at its commit
  return new Fault(internal);
};

/** The task's HTTP interface for the send endpoints, the health check and the metrics. Not listening yet. */
export const buildServer = (options: ServerOptions): FastifyInstance => {
  const server = Fastify({ bodyLimit: maxBodyBytes, forceCloseConnections: "idle" });
  server.addContentTypeParser("application/octet-stream", { parseAs: "buffer" }, (_, body, done) =>
    done(null, body),
  );
  server.setErrorHandler((error, _, reply) => refuse(error, reply));
  server.setNotFoundHandler((_, reply) =>
    refuse(new Fault({ status: 404, code: "not_found", message: "There is nothing here" }), reply),
  );

  server.register(async (internal) => {
    internal.addHook("onRequest", (request) => requireToken(options, request));
    internal.post("/messages", async (request, reply) => {
      const { submission, inline } = readSubmission(request);
      return reply.code(201).send(await options.accept(submission, inline));
    });
    internal.post("/messages/batch", async ({ body }, reply) => {
      const { submissions } = read(Batch, body);
      return reply.code(201).send({ ids: await options.acceptBatch(submissions) });
    });
    internal.get<{ Params: { id: string } }>("/messages/:id", async ({ params }) => {
      const state = await options.findState(params.id);
      if (!state) throw new Fault(messageNotFound);
      return state;
    });
    internal.get("/connection", async () => options.findConnection());
  });

  // the task is well as long as it answers: another one would not mend a database or a platform that is away
  server.get("/health", async () => ({ process: true, ...(await options.checkHealth()) }));
  server.get("/metrics", async (_, reply) => {
    const { contentType, text } = await options.renderMetrics();
    return reply.type(contentType).send(text);
  });
  return server;
};
