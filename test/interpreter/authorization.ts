import type { APIGatewayAuthorizerResult } from "aws-lambda";
import { authorizerEvent, findHeader, type Request } from "../../infra/local/gateway/event.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";
import type { ResponseType } from "./gateway-response.ts";
import { allows, type Statement } from "./policy.ts";
import type { Authorizer, Method } from "./rest-api.ts";

/** How a function is invoked on behalf of a resource of the API. */
export type Invoke = (
  functionArn: string,
  sourceArn: string,
  event: unknown,
  requestId: string,
) => Promise<Outcome | "not permitted">;

export interface Admission {
  /** What the authorizer hands on. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly usageIdentifier: string | undefined;
}
type Refusal = { readonly refused: ResponseType };

/** Calls the authorizers of one API and caches their policies for the time in the template. */
export const startAuthorization = (invoke: Invoke, apiArn: string, stageArn: string) => {
  const cache = new Map<string, { policy: APIGatewayAuthorizerResult; until: number }>();

  const ask = async (
    authorizer: Authorizer,
    request: Request,
    event: unknown,
  ): Promise<APIGatewayAuthorizerResult | Refusal> => {
    const sourceArn = `${apiArn}/authorizers/${authorizer.id}`;
    const outcome = await invoke(authorizer.functionArn, sourceArn, event, request.id);
    if (outcome === "not permitted") return { refused: "AUTHORIZER_CONFIGURATION_ERROR" };
    if ("errorMessage" in outcome)
      return { refused: outcome.errorMessage === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE" };
    const policy = JSON.parse(outcome.payload) as APIGatewayAuthorizerResult | null;
    const isPolicy = policy?.principalId && Array.isArray(policy.policyDocument?.Statement);
    return isPolicy ? policy : { refused: "AUTHORIZER_CONFIGURATION_ERROR" };
  };

  /** @returns undefined for a public method. */
  return async (method: Method, request: Request): Promise<Admission | Refusal | undefined> => {
    const { authorizer } = method;
    if (!authorizer) return undefined;
    const identity = authorizer.identityHeaders.map((name) => findHeader(request, name));
    if (identity.some((value) => !value)) return { refused: "UNAUTHORIZED" };
    const methodArn = `${stageArn}/${request.method}${request.path}`;
    const key = JSON.stringify([authorizer.id, ...identity]);
    const cached = cache.get(key);
    const isFresh = cached !== undefined && cached.until > Date.now();
    const event = { ...authorizerEvent(request, method.path), methodArn };
    const policy = isFresh ? cached.policy : await ask(authorizer, request, event);
    if ("refused" in policy) return policy;
    const { cacheSeconds } = authorizer;
    if (cacheSeconds > 0 && !isFresh) cache.set(key, { policy, until: Date.now() + cacheSeconds * 1_000 });
    const statements = policy.policyDocument.Statement as unknown as Statement[];
    if (!allows(statements, "execute-api:Invoke", methodArn)) return { refused: "ACCESS_DENIED" };
    const { context = {}, principalId, usageIdentifierKey } = policy;
    return {
      context: { ...context, principalId },
      usageIdentifier: usageIdentifierKey ?? undefined,
    };
  };
};
