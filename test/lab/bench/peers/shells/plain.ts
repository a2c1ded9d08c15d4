import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
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

const parse = (text: string | null): unknown => {
  try {
    return JSON.parse(text || "{}");
  } catch {
    throw new Problem(400, "invalid_request", "The body is not valid JSON");
  }
};

/** No framework: the floor. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const run = async (event: APIGatewayProxyEvent): Promise<object> => {
    const { identity, requestId } = event.requestContext;
    const headers = new Map(
      Object.entries(event.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const caller = await duty.authenticate((name) => headers.get(name));
    if (Buffer.byteLength(event.body ?? "") > duty.maxBodyBytes)
      throw new Problem(413, "payload_too_large", "The body is too large");
    const parsed = duty.body.safeParse(parse(event.body));
    if (!parsed.success) throw invalid(parsed.error);
    const idempotencyKey = headers.get("idempotency-key");
    const body = parsed.data;
    return duty.answer({ body, caller, idempotencyKey, sourceIp: identity.sourceIp, requestId });
  };
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const startedAt = performance.now();
    const { requestId } = event.requestContext;
    const reply = await run(event).catch(toProblem);
    const problem = reply instanceof Problem ? reply : undefined;
    const statusCode = problem?.status ?? 200;
    log("request", lineOf(duty.name, requestId, statusCode, startedAt));
    return {
      statusCode,
      headers: { "content-type": contentType, ...headersOf(requestId, problem) },
      body: JSON.stringify(problem ? duty.describe(problem, requestId) : reply),
    };
  };
};
