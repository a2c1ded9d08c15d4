import { zValidator } from "@hono/zod-validator";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import {
  contentType,
  type Duty,
  headersOf,
  invalid,
  lineOf,
  log,
  Problem,
  toProblem,
} from "../duties/duty.ts";

interface Environment<C> {
  readonly Bindings: { readonly event: APIGatewayProxyEvent };
  readonly Variables: { caller: C };
}

/** Hono with its adapter for Lambda and its validator for zod. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const app = new Hono<Environment<C>>();
  app.use(async (context, next) => {
    const startedAt = performance.now();
    await next();
    log(
      "request",
      lineOf(duty.name, context.env.event.requestContext.requestId, context.res.status, startedAt),
    );
  });
  app.post(
    duty.path,
    async (context, next) => {
      context.set("caller", await duty.authenticate((name) => context.req.header(name)));
      await next();
    },
    bodyLimit({
      maxSize: duty.maxBodyBytes,
      onError: () => {
        throw new Problem(413, "payload_too_large", "The body is too large");
      },
    }),
    zValidator("json", duty.body, (result) => {
      if (!result.success) throw invalid(result.error);
    }),
    async (context) => {
      const { identity, requestId } = context.env.event.requestContext;
      const reply = await duty.answer({
        body: context.req.valid("json" as never) as B,
        caller: context.get("caller"),
        idempotencyKey: context.req.header("idempotency-key"),
        sourceIp: identity.sourceIp,
        requestId,
      });
      return context.json(reply, 200, { "content-type": contentType, ...headersOf(requestId) });
    },
  );
  app.onError((error, context) => {
    const problem = toProblem(error);
    const { requestId } = context.env.event.requestContext;
    return context.json(duty.describe(problem, requestId), problem.status as ContentfulStatusCode, {
      "content-type": contentType,
      ...headersOf(requestId, problem),
    });
  });
  return handle(app);
};
