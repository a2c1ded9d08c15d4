import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { deadline } from "#lib/deadline.ts";
import type { Firewall } from "../../aws/api.ts";
import { serveHttp } from "../loopback.ts";
import { type Admission, type Invoke, type Refusal, startAuthorization } from "./authorization.ts";
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
import { type Answer, answerOf, ownAnswer, type ResponseType } from "./gateway-response.ts";
import { listMethods, type Method, type RestApi } from "./rest-api.ts";
import { AddressCounter, Quota, Throttle } from "./throttle.ts";

export interface GatewayOptions {
  readonly api: RestApi;
  /** Default: any free port. */
  readonly port?: number;
  readonly invoke: Invoke;
  /** Finds the usage plan of a usage identifier. */
  readonly findPlan: (usageIdentifier: string) => Promise<string | undefined>;
  /** The firewall's limits per client address; none by default. */
  readonly perAddress?: Firewall["perAddress"] | undefined;
  /** Receives one line per response, without the query, which may contain personal data. */
  readonly onAccess?: (line: string) => void;
}

/** API Gateway's limit for requests, and Lambda's for events. */
const maxRequestBytes = 10 * 1024 * 1024;
const maxEventBytes = 6 * 1024 * 1024;
/** An oversized body is read up to this size, so that the client receives the response. */
const maxDrainedBytes = 64 * 1024 * 1024;
/** How long running requests may continue when the gateway stops. */
const graceMs = 2_000;

/** Of a method without an authorizer. */
const anyone: Admission = { context: undefined, usageIdentifier: undefined };

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
 * Starts a REST API on this machine with API Gateway's routing, authorizers, usage plans, limits and gateway responses,
 * in the order in which AWS applies them, behind the firewall's limits per address.
 */
export const startGateway = ({
  api,
  port = 0,
  invoke,
  findPlan,
  perAddress,
  onAccess = () => {},
}: GatewayOptions) => {
  const gatewayAnswer = (type: ResponseType, requestId: string) => ownAnswer(api, type, requestId);
  const authorize = startAuthorization(invoke);
  const addresses = new AddressCounter();
  const throttle = new Throttle();
  const quota = new Quota();

  /** Counts a request against each limit of its address, up to the first that is exceeded. */
  const isFromTooBusy = ({ path, sourceIp }: Request): boolean =>
    (perAddress?.limits ?? []).some(
      ({ route, requestsPerMinute }) =>
        (!route || readPath(route.path, path)) &&
        !addresses.take(`${sourceIp} ${route?.path}`, requestsPerMinute),
    );

  /** Counts a request against its usage plan. @returns the gateway response if it is rejected. */
  const meter = async (usageIdentifier: string | undefined): Promise<ResponseType | undefined> => {
    const plan = usageIdentifier && api.usagePlans[(await findPlan(usageIdentifier)) ?? ""];
    if (!plan) return "INVALID_API_KEY";
    if (!throttle.take(usageIdentifier, plan)) return "THROTTLED";
    return quota.take(usageIdentifier, plan) ? undefined : "QUOTA_EXCEEDED";
  };

  const admit = async (method: Method, request: Request): Promise<Admission | Refusal> => {
    const { httpMethod, path, authorizer, keyRequired } = method;
    if (!throttle.take(`${httpMethod} ${path}`, method.throttle)) return { refused: "THROTTLED" };
    const admission = authorizer ? await authorize(authorizer, request, path) : anyone;
    if ("refused" in admission || !keyRequired) return admission;
    const refused = await meter(admission.usageIdentifier);
    return refused ? { refused } : admission;
  };

  const isBinary = (mediaTypes: string | undefined) => {
    const type = mediaTypes?.split(/[;,]/)[0]?.trim().toLowerCase() ?? "";
    return api.binaryMediaTypes.some((binary) => binary === "*/*" || binary === type);
  };

  const integrate = async (
    { integration, path: resourcePath }: Method,
    request: Request,
    body: Buffer,
    authorizer: Admission["context"],
  ): Promise<Answer> => {
    if (!("fn" in integration)) return { ...integration, body: "" };
    const { fn, timeoutMs } = integration;
    const binary = isBinary(findHeader(request, "content-type"));
    const event = proxyEvent(request, { body, binary, resourcePath, authorizer });
    if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes)
      return gatewayAnswer("REQUEST_TOO_LARGE", request.id);
    const outcome = await deadline(invoke(fn, event, request.id), timeoutMs).catch(() => undefined);
    if (!outcome) return gatewayAnswer("INTEGRATION_TIMEOUT", request.id);
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

  const answer = async (
    request: Request,
    atPath: readonly Method[],
    message: IncomingMessage,
  ): Promise<Answer> => {
    if (perAddress && isFromTooBusy(request)) return answerOf(perAddress.refusal, 429, request.id);
    const method = atPath.find(({ httpMethod }) => httpMethod === request.method);
    if (!method) return gatewayAnswer("MISSING_AUTHENTICATION_TOKEN", request.id);
    const admission = await admit(method, request);
    if ("refused" in admission) return gatewayAnswer(admission.refused, request.id);
    const body = await readBody(message);
    if (!body) return gatewayAnswer("REQUEST_TOO_LARGE", request.id);
    return integrate(method, request, body, admission.context);
  };

  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const started = performance.now();
    const id = randomUUID();
    const request = readRequest(message, id);
    const atPath = request ? listMethods(api, request.path) : [];
    const { status, headers, body } = request
      ? await answer(request, atPath, message).catch((error: Error) => {
          onAccess(`${id} the gateway failed: ${error.message}`);
          return gatewayAnswer("API_CONFIGURATION_ERROR", id);
        })
      : gatewayAnswer("BAD_REQUEST_BODY", id);
    response.writeHead(status, { ...headers, ...lengthOf(status, body) }).end(body);
    const ms = (performance.now() - started).toFixed(0);
    // an unknown path may contain personal data
    onAccess(`${message.method} ${atPath[0]?.path ?? "(no route)"} ${status} ${ms} ms ${id}`);
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
