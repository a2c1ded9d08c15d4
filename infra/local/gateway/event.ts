import type { IncomingMessage } from "node:http";
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
} from "aws-lambda";
import { readPath } from "./path.ts";

const stage = "local";
const apiId = "local";
const account = "000000000000";

/** An HTTP request with its body still to come. */
export interface Request {
  readonly id: string;
  readonly method: string;
  /** As it was sent, not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names as they were sent, in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly sourceIp: string;
  readonly receivedAt: number;
}

const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

/** Undefined for a request line that is no address, such as `OPTIONS *`. */
export const readRequest = (message: IncomingMessage, id: string): Request | undefined => {
  const [path = "", query = ""] = (message.url ?? "").split(/\?(.*)/s);
  if (!path.startsWith("/")) return undefined;
  const sourceIp = message.socket.remoteAddress ?? "";
  return {
    id,
    method: message.method ?? "GET",
    path,
    query: new URLSearchParams(query),
    headers: [...pairs(message.rawHeaders), ["X-Forwarded-For", sourceIp], ["X-Forwarded-Proto", "http"]],
    sourceIp,
    receivedAt: Date.now(),
  };
};

/** Of a header that is sent twice, the last one: the same that functions are given. */
export const findHeader = ({ headers }: Request, name: string): string | undefined =>
  headers.findLast(([key]) => key.toLowerCase() === name)?.[1];

/** The last value of each name, and all of them; null where there is none, as API Gateway has it. */
const group = (entries: Iterable<readonly [string, string]>) => {
  const named = Object.entries(Object.groupBy(entries, ([name]) => name));
  if (named.length === 0) return { single: null, multi: null };
  const multi = named.map(([name, pairs = []]) => [name, pairs.map(([, value]) => value)] as const);
  const single = multi.map(([name, values]) => [name, values.at(-1) ?? ""] as const);
  return { single: Object.fromEntries(single), multi: Object.fromEntries(multi) };
};

const requestContext = (request: Request, resourcePath: string) => ({
  accountId: account,
  apiId,
  authorizer: undefined,
  domainName: findHeader(request, "host") ?? "localhost",
  domainPrefix: "localhost",
  extendedRequestId: request.id,
  httpMethod: request.method,
  identity: { sourceIp: request.sourceIp, userAgent: findHeader(request, "user-agent") ?? null },
  path: `/${stage}${request.path}`,
  protocol: "HTTP/1.1",
  requestId: request.id,
  requestTime: new Date(request.receivedAt).toUTCString(),
  requestTimeEpoch: request.receivedAt,
  resourceId: resourcePath,
  resourcePath,
  stage,
});

const common = (request: Request, resourcePath: string) => {
  const headers = group(request.headers);
  const query = group(request.query);
  const params = readPath(resourcePath, request.path) ?? {};
  return {
    resource: resourcePath,
    path: request.path,
    httpMethod: request.method,
    headers: headers.single ?? {},
    multiValueHeaders: headers.multi ?? {},
    queryStringParameters: query.single,
    multiValueQueryStringParameters: query.multi,
    pathParameters: Object.keys(params).length > 0 ? params : null,
    stageVariables: null,
  };
};

/**
 * The event of a Lambda proxy integration.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export const proxyEvent = (
  request: Request,
  {
    body,
    binary,
    resourcePath,
    authorizer,
  }: {
    body: Buffer;
    /** The content type is one of the API's binary media types. */
    binary: boolean;
    resourcePath: string;
    authorizer: Record<string, unknown> | undefined;
  },
): APIGatewayProxyEvent => ({
  ...common(request, resourcePath),
  body: body.length === 0 ? null : body.toString(binary ? "base64" : "utf8"),
  isBase64Encoded: binary && body.length > 0,
  requestContext: {
    ...requestContext(request, resourcePath),
    authorizer,
  } as unknown as APIGatewayProxyEvent["requestContext"],
});

export const methodArn = (method: string, path: string): string =>
  `arn:aws:execute-api:local:${account}:${apiId}/${stage}/${method}${path}`;

/**
 * The event of a REQUEST authorizer: everything but the body.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
 */
export const authorizerEvent = (
  request: Request,
  resourcePath: string,
): APIGatewayRequestAuthorizerEvent => ({
  ...common(request, resourcePath),
  type: "REQUEST",
  methodArn: methodArn(request.method, request.path),
  requestContext: requestContext(
    request,
    resourcePath,
  ) as unknown as APIGatewayRequestAuthorizerEvent["requestContext"],
});

/** The result of a proxy integration, or undefined for one that API Gateway calls malformed (a 502). */
export const readResult = (payload: string): APIGatewayProxyResult | undefined => {
  const result = JSON.parse(payload) as Partial<APIGatewayProxyResult> | null;
  const { statusCode, body } = result ?? {};
  const valid = Number.isInteger(statusCode) && (body === undefined || typeof body === "string");
  return valid ? ({ body: "", ...result } as APIGatewayProxyResult) : undefined;
};

/** What API Gateway keeps for itself and renames in a function's answer: a challenge comes from the gateway alone. */
const remapped = new Set(["www-authenticate"]);

/** The headers of a proxy integration's result, as the caller gets them. */
export const answeredHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyResult) =>
  Object.fromEntries(
    Object.entries({ ...headers, ...multiValueHeaders }).map(([name, value]) => [
      remapped.has(name.toLowerCase()) ? `x-amzn-remapped-${name.toLowerCase()}` : name,
      value,
    ]),
  ) as Record<string, string | string[]>;
