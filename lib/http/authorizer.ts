import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { log } from "#lib/log.ts";
import { lowerCaseNames } from "./input.ts";

export interface Identity {
  readonly principalId: string;
  /** Passed to the endpoint as `requestContext.authorizer`. */
  readonly context: Record<string, string>;
  /** Selects the caller's usage plan, for throttling and quota. */
  readonly usageIdentifierKey?: string;
}

/**
 * Creates a REQUEST authorizer.
 *
 * The gateway answers 401 if the error is exactly "Unauthorized", and 500 for any other. The policy allows the whole
 * stage, because the gateway caches it for the caller's other requests.
 *
 * @param identify returns undefined for missing or invalid credentials.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */
export const authorizer =
  (identify: (headers: Record<string, string | undefined>) => Promise<Identity | undefined>) =>
  async ({ headers, methodArn, requestContext }: APIGatewayRequestAuthorizerEvent) => {
    const identity = await identify(lowerCaseNames(headers)).catch((error: unknown) => {
      log.error("authorizer failed", { request_id: requestContext.requestId, error });
      throw new Error("The authorizer failed");
    });
    if (!identity) throw new Error("Unauthorized");
    const stage = methodArn.split("/").slice(0, 2).join("/");
    return {
      ...identity,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${stage}/*` }],
      },
    } satisfies APIGatewayAuthorizerResult;
  };
