import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { log } from "#lib/log.ts";
import { lowerCaseNames } from "./headers.ts";

/** Whom an authorizer lets in. */
export interface Admission {
  readonly principalId: string;
  /** Handed to the endpoint as `requestContext.authorizer`. */
  readonly context: Record<string, string>;
  /** The API key of a usage plan, for throttle and quota. */
  readonly usageIdentifierKey?: string;
}

/**
 * A REQUEST authorizer around the question who is calling.
 *
 * `undefined` becomes the gateway's 401, which wants exactly the word Unauthorized; any other failure its
 * 500. The policy admits to the whole stage: the gateway may use it for the caller's next request too.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */
export const authorizer =
  (admit: (headers: Record<string, string | undefined>) => Promise<Admission | undefined>) =>
  async ({ headers, methodArn, requestContext }: APIGatewayRequestAuthorizerEvent) => {
    const admission = await admit(lowerCaseNames(headers)).catch((error: unknown) => {
      log.error("authorizer failed", { request_id: requestContext.requestId, error });
      throw new Error("The authorizer failed");
    });
    if (!admission) throw new Error("Unauthorized");
    const stage = methodArn.split("/").slice(0, 2).join("/");
    return {
      ...admission,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${stage}/*` }],
      },
    } satisfies APIGatewayAuthorizerResult;
  };
