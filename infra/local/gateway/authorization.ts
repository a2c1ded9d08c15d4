import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { Outcome } from "../lambda/environment.ts";
import { authorizerEvent, findHeader, methodArn, type Request } from "./event.ts";
import type { ResponseType } from "./gateway-response.ts";
import { allows, type Statement } from "./policy.ts";
import type { Authorizer } from "./rest-api.ts";

/** Calls a function and never rejects. @param fn its module under `functions/`. */
export type Invoke = (fn: string, event: unknown, requestId: string) => Promise<Outcome>;

/** What the authorizer passes to the function and to the usage plan. */
export interface Admission {
  readonly context: Record<string, unknown> | undefined;
  readonly usageIdentifier: string | undefined;
}

export interface Refusal {
  readonly refused: ResponseType;
}

/** Creates a function that calls authorizers and caches their policies, as API Gateway does for REQUEST authorizers. */
export const startAuthorization = (invoke: Invoke) => {
  const cache = new Map<string, { policy: APIGatewayAuthorizerResult; until: number }>();

  const ask = async (
    fn: string,
    request: Request,
    resourcePath: string,
  ): Promise<APIGatewayAuthorizerResult | Refusal> => {
    const outcome = await invoke(fn, authorizerEvent(request, resourcePath), request.id);
    if ("errorMessage" in outcome)
      return { refused: outcome.errorMessage === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE" };
    const policy = JSON.parse(outcome.payload) as APIGatewayAuthorizerResult | null;
    const isPolicy = policy?.principalId && Array.isArray(policy.policyDocument?.Statement);
    return isPolicy ? policy : { refused: "AUTHORIZER_CONFIGURATION_ERROR" };
  };

  return async (
    { fn, identityHeaders, cacheSeconds }: Authorizer,
    request: Request,
    resourcePath: string,
  ): Promise<Admission | Refusal> => {
    const identity = identityHeaders.map((name) => findHeader(request, name));
    if (identity.some((value) => !value)) return { refused: "UNAUTHORIZED" };
    const key = JSON.stringify([fn, ...identity]);
    const entry = cache.get(key);
    const isCached = entry !== undefined && entry.until > Date.now();
    const policy = isCached ? entry.policy : await ask(fn, request, resourcePath);
    if ("refused" in policy) return policy;
    if (cacheSeconds > 0 && !isCached) cache.set(key, { policy, until: Date.now() + cacheSeconds * 1_000 });
    const statements = policy.policyDocument.Statement as Statement[];
    if (!allows(statements, "execute-api:Invoke", methodArn(request.method, request.path)))
      return { refused: "ACCESS_DENIED" };
    const { context = {}, principalId, usageIdentifierKey } = policy;
    return { context: { ...context, principalId }, usageIdentifier: usageIdentifierKey ?? undefined };
  };
};
