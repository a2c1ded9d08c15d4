import { configure, getCurrentInvoke } from "@codegenie/serverless-express";
import type { APIGatewayProxyEvent } from "aws-lambda";
import express, { type NextFunction, type Request, type Response } from "express";
import { type Duty, headersOf, invalid, lineOf, log, toProblem } from "../duties/duty.ts";

const contextOf = () => (getCurrentInvoke() as { event: APIGatewayProxyEvent }).event.requestContext;

/** Express behind serverless-express, with a middleware for each step. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((_request, response, next) => {
    const startedAt = performance.now();
    const { requestId } = contextOf();
    response.on("finish", () => log("request", lineOf(duty.name, requestId, response.statusCode, startedAt)));
    next();
  });
  app.use(express.json({ limit: duty.maxBodyBytes, strict: false }));
  app.post(
    duty.path,
    async (request: Request, response: Response, next: NextFunction) => {
      response.locals.caller = await duty.authenticate((name) => request.get(name));
      next();
    },
    async (request: Request, response: Response) => {
      const parsed = duty.body.safeParse(request.body ?? {});
      if (!parsed.success) throw invalid(parsed.error);
      const { identity, requestId } = contextOf();
      const reply = await duty.answer({
        body: parsed.data,
        caller: response.locals.caller,
        idempotencyKey: request.get("idempotency-key"),
        sourceIp: identity.sourceIp,
        requestId,
      });
      response.set(headersOf(requestId)).json(reply);
    },
  );
  // Express tells an error handler by its four parameters
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const problem = toProblem(error);
    const { requestId } = contextOf();
    response
      .status(problem.status)
      .set(headersOf(requestId, problem))
      .json(duty.describe(problem, requestId));
  });
  return configure({ app });
};
