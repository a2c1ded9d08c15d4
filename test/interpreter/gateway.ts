import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import {
  answeredHeaders,
  findHeader,
  lengthOf,
  proxyEvent,
  type Request,
  readRequest,
  readResult,
} from "../../infra/local/gateway/event.ts";
import { Quota, Throttle } from "../../infra/local/gateway/throttle.ts";
import { type Admission, type Invoke, startAuthorization } from "./authorization.ts";
import { type Answer, answerOf, mapHeaders, type ResponseType } from "./gateway-response.ts";
import type { Place } from "./identity.ts";
import { findMethod, type Method, type RestApi } from "./rest-api.ts";

export interface Gateway {
  readonly url: string;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly api: RestApi;
  readonly place: Place;
  readonly invoke: Invoke;
  /** Name of the usage plan that a key is in: `npm run city -- partner` puts it there, no template does. */
  readonly findPlan: (key: string) => Promise<string | undefined>;
}

/** API Gateway's limit of a request, and Lambda's of an event and a result. */
const maxRequestBytes = 10 * 1024 * 1024;
const maxEventBytes = 6 * 1024 * 1024;

/** The whole body, or undefined for one over the limit, which is read to its end so that the sender gets the answer. */
const readBody = async (message: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxRequestBytes) chunks.push(chunk);
  }
  return size > maxRequestBytes ? undefined : Buffer.concat(chunks);
};

/**
 * One REST API of the template, as API Gateway would serve its stage: routes, authorizers, keys, throttles, binary
 * types and the answers without a function are the template's; what is fixed in the service is written here.
 */
export const startGateway = async ({ api, place, invoke, findPlan }: GatewayOptions): Promise<Gateway> => {
  const apiArn = `arn:aws:execute-api:${place.region}:${place.account}:${api.id}`;
  const stageArn = `${apiArn}/${api.stage}`;
  const authorize = startAuthorization(invoke, apiArn, stageArn);
  const throttle = new Throttle();
  const quota = new Quota();
  const refuse = (type: ResponseType, { id }: { id: string }) => answerOf(api, type, id);

  const isBinary = (mediaType: string | undefined) => {
    const type = mediaType?.split(/[;,]/)[0]?.trim().toLowerCase() ?? "";
    return api.binaryMediaTypes.some((binary) => binary === type || binary === "*/*");
  };

  /** What the usage plan says of one more request, or undefined. */
  const meter = async (key: string | undefined): Promise<ResponseType | undefined> => {
    const named = key && (await findPlan(key));
    const plan = api.usagePlans.find(({ name }) => name === named);
    if (!key || !plan) return "INVALID_API_KEY";
    if (!throttle.take(key, plan)) return "THROTTLED";
    return quota.take(key, plan) ? undefined : "QUOTA_EXCEEDED";
  };

  const makeEvent = (method: Method, request: Request, body: Buffer, admission: Admission | undefined) => {
    const event = proxyEvent(request, {
      body,
      binary: isBinary(findHeader(request, "content-type")),
      resourcePath: method.path,
      authorizer: admission && { ...admission.context },
    });
    const { account: accountId } = place;
    return {
      ...event,
      requestContext: { ...event.requestContext, accountId, apiId: api.id, stage: api.stage },
    };
  };

  const toAnswer = (payload: string, request: Request): Answer => {
    const result = payload.length > maxEventBytes ? undefined : readResult(payload);
    if (!result) return refuse("MALFORMED_RESULT", request);
    // only callers that accept a binary type get bytes
    const decodes = result.isBase64Encoded && isBinary(findHeader(request, "accept"));
    return {
      status: result.statusCode,
      headers: answeredHeaders(result),
      body: decodes ? Buffer.from(result.body, "base64") : result.body,
    };
  };

  const integrate = async (
    method: Method,
    request: Request,
    body: Buffer,
    admission: Admission | undefined,
  ): Promise<Answer> => {
    const { integration, httpMethod, path } = method;
    if (integration.kind === "mock")
      return { status: integration.status, headers: mapHeaders(integration.headers, request.id), body: "" };
    const event = makeEvent(method, request, body, admission);
    if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes) return refuse("REQUEST_TOO_LARGE", request);
    const giveUp = new AbortController();
    const late = setTimeout(integration.timeoutMs, "late" as const, { signal: giveUp.signal });
    late.catch(() => {});
    const sourceArn = `${stageArn}/${httpMethod}${path}`;
    const outcome = await Promise.race([late, invoke(integration.functionArn, sourceArn, event, request.id)]);
    giveUp.abort();
    if (outcome === "late") return refuse("INTEGRATION_TIMEOUT", request);
    if (outcome === "not permitted") return refuse("API_CONFIGURATION_ERROR", request);
    return "payload" in outcome ? toAnswer(outcome.payload, request) : refuse("INTEGRATION_FAILURE", request);
  };

  const answer = async (request: Request, message: IncomingMessage): Promise<Answer> => {
    const method = findMethod(api, request.method, request.path);
    if (!method) return refuse("MISSING_AUTHENTICATION_TOKEN", request);
    const rate = method.throttle;
    if (rate && !throttle.take(`${method.httpMethod} ${method.path}`, rate))
      return refuse("THROTTLED", request);
    const admission = await authorize(method, request);
    if (admission && "refused" in admission) return refuse(admission.refused, request);
    const key =
      api.keySource === "AUTHORIZER" ? admission?.usageIdentifier : findHeader(request, "x-api-key");
    const refused = method.keyRequired ? await meter(key) : undefined;
    if (refused) return refuse(refused, request);
    const body = await readBody(message);
    if (!body) return refuse("REQUEST_TOO_LARGE", request);
    return integrate(method, request, body, admission);
  };

  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const id = randomUUID();
    const request = readRequest(message, id);
    const { status, headers, body } = request
      ? await answer(request, message)
      : refuse("BAD_REQUEST_BODY", { id });
    response.writeHead(status, { ...headers, ...lengthOf(status, body) } as OutgoingHttpHeaders).end(body);
    message.resume();
  };

  const server = createServer((message, response) => void respond(message, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};
