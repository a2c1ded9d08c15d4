import type { GatewayResponse } from "../../aws/api.ts";
import type { RestApi } from "./rest-api.ts";

/**
 * The responses that API Gateway sends without a function or instead of its result, with the statuses of types that an
 * API does not define.
 *
 * A function without a free environment is INTEGRATION_FAILURE, too (AWS's forum, thread 309901). For a proxy integration
 * callers report a status of 500 with API Gateway's own response; both APIs define that response, with 502.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 * @see https://stackoverflow.com/questions/36363280/map-aws-lambda-429-errors-to-api-gateway-2xx-response
 * @see https://repost.aws/questions/QUfI6bsdd0SOiPeyimzxSkfQ/
 */
const defaultStatus = {
  ACCESS_DENIED: 403,
  API_CONFIGURATION_ERROR: 500,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  BAD_REQUEST_BODY: 400,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  // of an invalid result, which has no response type
  MALFORMED_RESULT: 502,
  MISSING_AUTHENTICATION_TOKEN: 403,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
} as const;
export type ResponseType = keyof typeof defaultStatus;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

/** @param status of a response that does not set one. */
export const answerOf = (
  response: GatewayResponse | undefined,
  status: number,
  requestId: string,
): Answer => {
  const fill = (template: string) => template.replaceAll("$context.requestId", requestId);
  const headers = Object.entries(response?.headers ?? {}).map(([name, value]) => [name, fill(value)]);
  return {
    status: response?.status ?? status,
    headers: { "content-type": "application/json", ...Object.fromEntries(headers) },
    body: fill(response?.body ?? "{}"),
  };
};

/** Returns the API's own response of a type. */
export const ownAnswer = ({ responses }: RestApi, type: ResponseType, requestId: string): Answer => {
  const status = defaultStatus[type];
  const fallback = responses[status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX"];
  return answerOf(responses[type] ?? fallback, status, requestId);
};
