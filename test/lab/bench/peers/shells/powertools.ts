import { Logger } from "@aws-lambda-powertools/logger";
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { ParseError } from "@aws-lambda-powertools/parser/errors";
import { JSONStringified } from "@aws-lambda-powertools/parser/helpers";
import { parser } from "@aws-lambda-powertools/parser/middleware";
import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import middy, { type MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import type * as z from "zod";
import { contentType, type Duty, headersOf, invalid, lineOf, Problem, toProblem } from "../duties/duty.ts";

type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

const headerOf = (event: APIGatewayProxyEvent, name: string) =>
  Object.entries(event.headers).find(([key]) => key.toLowerCase() === name)?.[1];

/** The parser's cause is a list of issues, with paths from the event on. */
const toProblemOfParser = (error: unknown): Problem | undefined => {
  if (!(error instanceof ParseError)) return undefined;
  const issues = error.cause as z.core.$ZodIssue[];
  return invalid({ issues: issues.map((issue) => ({ ...issue, path: issue.path.slice(1) })) });
};

/** middy with the logger and the parser of Powertools. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const logger = new Logger({ serviceName: duty.name });
  const callers = new WeakMap<object, C>();
  const starts = new WeakMap<object, number>();

  const accessLog: Middleware = {
    before: ({ context }) => void starts.set(context, performance.now()),
    after: ({ event, response, context }) => write(event, response, context),
    onError: ({ event, response, context }) => write(event, response, context),
  };
  const write = (
    event: APIGatewayProxyEvent,
    response: APIGatewayProxyResult | null | undefined,
    context: object,
  ) => {
    const startedAt = starts.get(context) ?? performance.now();
    logger.info(
      "request",
      lineOf(duty.name, event.requestContext.requestId, response?.statusCode ?? 500, startedAt),
    );
  };
  const describeProblem: Middleware = {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const problem = toProblemOfParser(request.error) ?? toProblem(request.error);
      request.response = {
        statusCode: problem.status,
        headers: { "content-type": contentType, ...headersOf(requestId, problem) },
        body: JSON.stringify(duty.describe(problem, requestId)),
      };
    },
  };
  const checkCaller: Middleware = {
    before: async ({ event, context }) => {
      callers.set(context, await duty.authenticate((name) => headerOf(event, name)));
    },
  };
  const prepareBody: Middleware = {
    before: ({ event }) => {
      event.body ||= "{}";
      if (Buffer.byteLength(event.body) > duty.maxBodyBytes)
        throw new Problem(413, "payload_too_large", "The body is too large");
    },
  };
  const schema = APIGatewayProxyEventSchema.extend({ body: JSONStringified(duty.body as never) });

  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(injectLambdaContext(logger))
    .use(accessLog)
    .use(describeProblem)
    .use(checkCaller)
    .use(prepareBody)
    .use(parser({ schema }) as unknown as Middleware)
    .handler(async (event, context) => {
      const { identity, requestId } = event.requestContext;
      const reply = await duty.answer({
        body: event.body as B,
        caller: callers.get(context) as C,
        idempotencyKey: headerOf(event, "idempotency-key"),
        sourceIp: identity.sourceIp,
        requestId,
      });
      return {
        statusCode: 200,
        headers: { "content-type": contentType, ...headersOf(requestId) },
        body: JSON.stringify(reply),
      };
    });
};
