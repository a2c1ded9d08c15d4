import awsLambdaFastify from "@fastify/aws-lambda";
import type { APIGatewayProxyEvent } from "aws-lambda";
import fastify, { type FastifyRequest } from "fastify";
import type * as z from "zod";
import { contentType, type Duty, headersOf, invalid, lineOf, log, toProblem } from "../duties/duty.ts";

const contextOf = (request: FastifyRequest) =>
  (request as FastifyRequest & { awsLambda: { event: APIGatewayProxyEvent } }).awsLambda.event.requestContext;

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

/** Fastify behind its own adapter, with hooks and a validator compiler for zod. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const app = fastify({ bodyLimit: duty.maxBodyBytes });
  const callers = new WeakMap<FastifyRequest, C>();
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (body) => {
    const parsed = schema.safeParse(body ?? {});
    return parsed.success ? { value: parsed.data } : { error: invalid(parsed.error) };
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error);
    const { requestId } = contextOf(request);
    reply
      .status(problem.status)
      .headers({ "content-type": contentType, ...headersOf(requestId, problem) })
      .send(duty.describe(problem, requestId));
  });
  app.addHook("onResponse", async (request, reply) => {
    const startedAt = performance.now() - reply.elapsedTime;
    log("request", lineOf(duty.name, contextOf(request).requestId, reply.statusCode, startedAt));
  });
  app.route<{ Body: B }>({
    method: duty.method,
    url: duty.path,
    schema: { body: duty.body },
    onRequest: async (request) => {
      callers.set(request, await duty.authenticate((name) => first(request.headers[name])));
    },
    handler: async (request, reply) => {
      const { identity, requestId } = contextOf(request);
      reply.headers({ "content-type": contentType, ...headersOf(requestId) });
      return duty.answer({
        body: request.body as B,
        caller: callers.get(request) as C,
        idempotencyKey: first(request.headers["idempotency-key"]),
        sourceIp: identity.sourceIp,
        requestId,
      });
    },
  });
  return awsLambdaFastify(app);
};
