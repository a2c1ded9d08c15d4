import type { IncomingMessage } from "node:http";
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
} from "aws-lambda";

const stage = "local";
const apiId = "local";
const account = "000000000000";

/** An HTTP request without its body. */
export interface Request {
  readonly id: string;
  readonly method: string;
  /** Not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the original order and case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly sourceIp: string;
  readonly receivedAt: number;
}

const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

/** Reads a request. @returns undefined if its target is not a path, such as `OPTIONS *`. */
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

/** Finds a header. The last of repeated headers counts, as in functions. */
export const findHeader = ({ headers }: Request, name: string): string | undefined =>
  headers.findLast(([key]) => key.toLowerCase() === name)?.[1];

/** Returns the last value and all values of each name; null if there are none, as in API Gateway. */
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
 * Creates the event of a Lambda proxy integration.
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
    /** Whether the content type is one of the API's binary media types. */
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
 * Creates the event of a REQUEST authorizer, which has no body.
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

/** Parses the result of a proxy integration. @returns undefined if it is malformed, for which API Gateway answers 502. */
export const readResult = (payload: string): APIGatewayProxyResult | undefined => {
  const result = JSON.parse(payload) as Partial<APIGatewayProxyResult> | null;
  const { statusCode, body } = result ?? {};
  const valid = Number.isInteger(statusCode) && (body === undefined || typeof body === "string");
  return valid ? ({ body: "", ...result } as APIGatewayProxyResult) : undefined;
};

/** `Content-Length` as API Gateway sends it, also to HEAD; a 204 or 304 has none. */
export const lengthOf = (status: number, body: string | Buffer) =>
  status === 204 || status === 304 ? {} : { "content-length": String(Buffer.byteLength(body)) };

/** Returns the response headers. API Gateway renames `WWW-Authenticate`: only the gateway itself may send it. */
export const answeredHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyResult) =>
  Object.fromEntries(
    Object.entries({ ...headers, ...multiValueHeaders }).map(([name, value]) => [
      name.toLowerCase() === "www-authenticate" ? "x-amzn-remapped-www-authenticate" : name,
      value,
    ]),
  ) as Record<string, string | string[]>;

/**
 * Removes a slash at the end of a page's address, which API Gateway ignores (aws-powertools/powertools-lambda-python pull
 * request 1609). At the endpoints it matters here: the contract's cases expect 404.
 */
const withoutPageSlash = (template: string, path: string): string =>
  template.startsWith("/docs") ? path.replace(/(?<=.)\/$/, "") : path;

/**
 * Returns the path parameters of a route such as `/files/{id}`, or undefined if the path does not match. As in API
 * Gateway, a parameter must not be empty, and the last one takes all further segments if it has a plus.
 */
export const readPath = (template: string, path: string): Record<string, string> | undefined => {
  const wanted = template.split("/");
  const segments = withoutPageSlash(template, path).split("/");
  const last = wanted.length - 1;
  const isGreedy = template.endsWith("+}") && segments.length > last;
  const given = isGreedy ? [...segments.slice(0, last), segments.slice(last).join("/")] : segments;
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = given[i] ?? "";
    const name = segment.match(/^\{(\w+)\+?\}$/)?.[1];
    if (name === undefined ? segment !== value : value === "") return undefined;
    if (name !== undefined) params[name] = value;
  }
  return params;
};
