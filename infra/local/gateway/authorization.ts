import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type { Outcome } from "../lambda/environment.ts";
import { authorizerEvent, findHeader, methodArn, type Request } from "./event.ts";

/** The authorizer's decision: the context for the function, or a gateway response. */
export type Authorization =
  | { readonly admitted: { context: Record<string, unknown>; usageIdentifier: string | undefined } }
  | {
      readonly refused:
        | "UNAUTHORIZED"
        | "ACCESS_DENIED"
        | "AUTHORIZER_FAILURE"
        | "AUTHORIZER_CONFIGURATION_ERROR";
    };

type Invoke = (fn: string, event: unknown, requestId: string) => Promise<Outcome>;

interface Cached {
  readonly policy: APIGatewayAuthorizerResult;
  readonly until: number;
}

const asList = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const covers = (pattern: string, arn: string): boolean =>
  new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*").replaceAll("\\?", ".")}$`).test(arn);

/** Whether a policy allows the method; an explicit Deny takes precedence. */
const allows = ({ policyDocument }: APIGatewayAuthorizerResult, arn: string): boolean => {
  const effects = policyDocument.Statement.filter((statement) => {
    const patterns = "Resource" in statement && statement.Resource ? asList(statement.Resource) : [];
    return patterns.some((pattern) => covers(pattern, arn));
  }).map(({ Effect }) => Effect);
  return effects.includes("Allow") && !effects.includes("Deny");
};

/** Creates a function that calls authorizers and caches their policies, as API Gateway does for REQUEST authorizers. */
export const startAuthorization = (invoke: Invoke) => {
  const cache = new Map<string, Cached>();

  const ask = async (authorizer: Authorizer, request: Request, resourcePath: string) => {
    const outcome = await invoke(authorizer.fn, authorizerEvent(request, resourcePath), request.id);
    if ("payload" in outcome)
      return { policy: JSON.parse(outcome.payload) as APIGatewayAuthorizerResult | null };
    return {
      refused: outcome.errorMessage === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE",
    } as const;
  };

  return async (authorizer: Authorizer, request: Request, resourcePath: string): Promise<Authorization> => {
    const { fn, identityHeaders, cacheSeconds } = authorizer;
    const identity = identityHeaders.map((name) => findHeader(request, name));
    if (identity.some((value) => !value)) return { refused: "UNAUTHORIZED" };
    const key = JSON.stringify([fn, ...identity]);
    const entry = cache.get(key);
    const isCached = entry !== undefined && entry.until > Date.now();
    const answer = isCached ? { policy: entry.policy } : await ask(authorizer, request, resourcePath);
    if (answer.refused) return answer;
    const { policy } = answer;
    if (!policy?.principalId || !policy.policyDocument) return { refused: "AUTHORIZER_CONFIGURATION_ERROR" };
    if (cacheSeconds > 0 && !isCached) cache.set(key, { policy, until: Date.now() + cacheSeconds * 1_000 });
    if (!allows(policy, methodArn(request.method, request.path))) return { refused: "ACCESS_DENIED" };
    const { context = {}, principalId, usageIdentifierKey } = policy;
    return {
      admitted: { context: { ...context, principalId }, usageIdentifier: usageIdentifierKey ?? undefined },
    };
  };
};
