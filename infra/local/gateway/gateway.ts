import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Addresses, invented, withAddresses } from "#lib/openapi/addresses.ts";
import { methodsOf, preflightHeaders, type Route } from "#lib/routes/route.ts";
import type { Api, GatewayResponse } from "../../aws/api.ts";
import type { Outcome } from "../lambda/environment.ts";
import { serveHttp } from "../loopback.ts";
import { startAuthorization } from "./authorization.ts";
import {
  answeredHeaders,
  findHeader,
  lengthOf,
  proxyEvent,
  type Request,
  readPath,
  readRequest,
  readResult,
} from "./event.ts";
import { AddressCounter, Quota, Throttle } from "./throttle.ts";

export interface GatewayOptions {
  readonly api: Api;
  /** 0 for any free port. */
  readonly port: number;
  readonly invoke: (fn: string, event: unknown, requestId: string) => Promise<Outcome>;
  /** The addresses of both APIs, which a 404 names; by default the placeholders. */
  readonly addresses?: Addresses;
  /** Finds the usage plan of a usage identifier. */
  readonly findPlan: (usageIdentifier: string) => Promise<string | undefined>;
  /** Receives one line per response, without the query, which may contain personal data. */
  readonly onAccess: (line: string) => void;
}

/** API Gateway's limit for requests, and Lambda's for events. */
const maxRequestBytes = 10 * 1024 * 1024;
const maxEventBytes = 6 * 1024 * 1024;
/** An oversized body is read up to this size, so that the client receives the response. */
const maxDrainedBytes = 64 * 1024 * 1024;
/** How long running requests may continue when the gateway stops. */
const graceMs = 2_000;

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Buffer;
}

/**
 * API Gateway's statuses of gateway responses that do not set one.
 *
 * A function without a free environment is INTEGRATION_FAILURE, too (AWS's forum, thread 309901). For a proxy integration
 * callers report a status of 500 with API Gateway's own response; both APIs define that response, with 502.
 * @see https://stackoverflow.com/questions/36363280/map-aws-lambda-429-errors-to-api-gateway-2xx-response
 * @see https://repost.aws/questions/QUfI6bsdd0SOiPeyimzxSkfQ/
 */
const defaultStatus: Readonly<Record<string, number>> = { BAD_REQUEST_BODY: 400, MALFORMED_RESULT: 502 };

const answerOf = (response: GatewayResponse | undefined, status: number, requestId: string): Answer => {
  const fill = (template: string) => template.replaceAll("$context.requestId", requestId);
  const headers = Object.entries(response?.headers ?? {}).map(([name, value]) => [name, fill(value)]);
  return {
    status: response?.status ?? status,
    headers: { "content-type": "application/json", ...Object.fromEntries(headers) },
    body: fill(response?.body ?? "{}"),
  };
};

const ownAnswer = ({ responses }: Api, type: string, requestId: string): Answer => {
  const status = defaultStatus[type] ?? 500;
  return answerOf(
    responses[type] ?? responses[status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX"],
    status,
    requestId,
  );
};

const preflight = (route: Route): Answer => ({
  status: 204,
  headers: {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": [...methodsOf(route), "OPTIONS"].join(),
    "access-control-allow-headers": preflightHeaders.join(),
    "access-control-max-age": "86400",
  },
  body: "",
});

/** Reads the body. @returns undefined if it exceeds the limit. */
const readBody = async (message: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxDrainedBytes) message.destroy();
    if (size <= maxRequestBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > maxRequestBytes ? undefined : Buffer.concat(chunks);
};

/**
 * Starts a local REST API with the firewall's limits per address, and with API Gateway's routing, authorizers, usage
 * plans, limits and gateway responses, in the order in which AWS applies them.
 */
export const startGateway = ({
  api,
  port,
  addresses: bases = invented,
  invoke,
  findPlan,
  onAccess,
}: GatewayOptions) => {
  const gatewayAnswer = (type: string, requestId: string): Answer => {
    const answer = ownAnswer(api, type, requestId);
    return { ...answer, body: withAddresses(String(answer.body), bases) };
  };
  const authorize = startAuthorization(invoke);
  const { limits, refusal } = api.firewall.perAddress;
  const addresses = new AddressCounter();
  const throttle = new Throttle();
  const quota = new Quota();

  /** Counts a request against each limit of its address, up to the first that is exceeded. */
  const isFromTooBusy = ({ path, sourceIp }: Request): boolean =>
    limits.some(
      ({ route, requestsPerMinute }) =>
        (!route || readPath(route.path, path)) &&
        !addresses.take(`${sourceIp} ${route?.path}`, requestsPerMinute),
    );

  /** Counts a request against its usage plan. @returns the gateway response if it is rejected. */
  const meter = async (usageIdentifier: string | undefined) => {
    const plan = usageIdentifier && api.usagePlans[(await findPlan(usageIdentifier)) ?? ""];
    if (!plan) return "INVALID_API_KEY";
    if (!throttle.take(usageIdentifier, plan)) return "THROTTLED";
    return quota.take(usageIdentifier, plan) ? undefined : "QUOTA_EXCEEDED";
  };

  const admit = async (route: Route, request: Request) => {
    if (!throttle.take(`${request.method} ${route.path}`, route.throttle ?? api.throttle))
      return { refused: "THROTTLED" };
    if (route.auth.kind === "public") return { context: undefined };
    const authorizer = api.authorizers.find(({ kind }) => kind === route.auth.kind);
    if (!authorizer) return { refused: "AUTHORIZER_CONFIGURATION_ERROR" };
    const authorization = await authorize(authorizer, request, route.path);
    if ("refused" in authorization) return authorization;
    const { context, usageIdentifier } = authorization.admitted;
    const refused = route.auth.kind === "apiKey" ? await meter(usageIdentifier) : undefined;
    return refused ? { refused } : { context };
  };

  const isBinary = (mediaTypes: string | undefined) => {
    const type = mediaTypes?.split(/[;,]/)[0]?.trim().toLowerCase() ?? "";
    return api.binaryMediaTypes.some((binary) => binary === "*/*" || binary === type);
  };

  const integrate = async (
    route: Route,
    request: Request,
    body: Buffer,
    authorizer?: Record<string, unknown>,
  ) => {
    const binary = isBinary(findHeader(request, "content-type"));
    const event = proxyEvent(request, { body, binary, resourcePath: route.path, authorizer });
    if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes)
      return gatewayAnswer("REQUEST_TOO_LARGE", request.id);
    const outcome = await invoke(route.fn, event, request.id);
    // a function's timeout is shorter than the gateway's, so it counts as a failure of the function
    if (!("payload" in outcome)) return gatewayAnswer("INTEGRATION_FAILURE", request.id);
    const result = readResult(outcome.payload);
    if (!result || outcome.payload.length > maxEventBytes)
      return gatewayAnswer("MALFORMED_RESULT", request.id);
    // decoded only if the first type that the caller accepts is binary
    const decodes = result.isBase64Encoded && isBinary(findHeader(request, "accept"));
    return {
      status: result.statusCode,
      headers: answeredHeaders(result),
      body: decodes ? Buffer.from(result.body, "base64") : result.body,
    };
  };

  const answer = async (request: Request, message: IncomingMessage): Promise<Answer> => {
    if (isFromTooBusy(request)) return answerOf(refusal, 429, request.id);
    const atPath = api.routes.filter(({ path }) => readPath(path, request.path));
    const open = atPath.find(({ cors }) => cors);
    if (request.method === "OPTIONS" && open) return preflight(open);
    const route = atPath.find((candidate) => methodsOf(candidate).includes(request.method));
    if (!route) return gatewayAnswer("MISSING_AUTHENTICATION_TOKEN", request.id);
    const admission = await admit(route, request);
    if (admission.refused !== undefined) return gatewayAnswer(admission.refused, request.id);
    const body = await readBody(message);
    if (!body) return gatewayAnswer("REQUEST_TOO_LARGE", request.id);
    return integrate(route, request, body, admission.context);
  };

  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const started = performance.now();
    const id = randomUUID();
    const request = readRequest(message, id);
    const { status, headers, body } = request
      ? await answer(request, message).catch((error: Error) => {
          onAccess(`${id} the gateway failed: ${error.message}`);
          return gatewayAnswer("DEFAULT_5XX", id);
        })
      : gatewayAnswer("BAD_REQUEST_BODY", id);
    response.writeHead(status, { ...headers, ...lengthOf(status, body) }).end(body);
    const ms = (performance.now() - started).toFixed(0);
    // an unknown path may contain personal data
    const known = request && api.routes.find((route) => readPath(route.path, request.path));
    const path = known?.path ?? "(no route)";
    onAccess(`${message.method} ${path} ${status} ${ms} ms ${id}`);
    message.resume();
  };

  const server = createServer((message, response) => void respond(message, response));
  server.on("clientError", (_, socket) => {
    const { headers, body } = gatewayAnswer("BAD_REQUEST_BODY", randomUUID());
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`);
  });
  return serveHttp(server, port, graceMs);
};
