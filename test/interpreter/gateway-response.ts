import type { RestApi } from "./rest-api.ts";

/**
 * API Gateway's own responses, with their default status.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
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
  // an invalid result of a proxy integration, which has no response type
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
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
}

/** The value of a mapping: fixed in quotes, or of the request. @throws Error for what is not understood. */
const map = (mapping: string, requestId: string): string => {
  if (mapping === "context.requestId") return requestId;
  const fixed = /^'(.*)'$/s.exec(mapping)?.[1];
  if (fixed === undefined) throw new Error(`the mapping ${mapping} is not understood`);
  return fixed;
};

export const mapHeaders = (mappings: Readonly<Record<string, string>>, requestId: string) =>
  Object.fromEntries(
    Object.entries(mappings).map(([name, mapping]) => [name.toLowerCase(), map(mapping, requestId)]),
  );

/** @throws Error for a variable that is not understood. */
const fill = (template: string, requestId: string): string =>
  template.replace(/\$[\w.]+/g, (variable) => {
    if (variable === "$context.requestId") return requestId;
    throw new Error(`the variable ${variable} is not understood`);
  });

/** The API's own answer of a type. A type that it does not set takes headers and body of its class's default. */
export const answerOf = ({ responses }: RestApi, type: ResponseType, requestId: string): Answer => {
  const status = defaultStatus[type];
  const fallback = responses.get(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
  const response = responses.get(type) ?? fallback;
  return {
    status: response?.status ?? status,
    headers: { "content-type": "application/json", ...mapHeaders(response?.headers ?? {}, requestId) },
    body: fill(response?.body ?? '{"message":null}', requestId),
  };
};
