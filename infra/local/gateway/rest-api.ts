import type { Rate } from "#lib/routes/route.ts";
import type { GatewayResponse, UsagePlan } from "../../aws/api.ts";
import { readPath } from "./event.ts";

/** A function that decides who may call a method. */
export interface Authorizer {
  /** Module under `functions/`. */
  readonly fn: string;
  /** Required headers, in lower case: the cache key of the function's policies. */
  readonly identityHeaders: readonly string[];
  /** How long a policy is cached; 0 calls the function for every request. */
  readonly cacheSeconds: number;
}

/** A function that receives the whole request. */
interface Proxy {
  /** Module under `functions/`. */
  readonly fn: string;
  readonly timeoutMs: number;
}

/** A fixed response without a body, for which no function is called. */
export interface Mock {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Method {
  readonly httpMethod: string;
  /** With parameters in braces. */
  readonly path: string;
  /** Undefined for a public method. */
  readonly authorizer: Authorizer | undefined;
  /** Whether the authorizer's usage identifier must have a usage plan. */
  readonly keyRequired: boolean;
  /** Shared by all callers. */
  readonly throttle: Rate;
  readonly integration: Proxy | Mock;
}

/**
 * What API Gateway knows of one REST API. The route table describes it (`route-table.ts`), and so does a CloudFormation
 * template (`test/interpreter/rest-api.ts`): a test compares the two.
 */
export interface RestApi {
  readonly methods: readonly Method[];
  /** By API Gateway response type. A type without an entry uses DEFAULT_4XX or DEFAULT_5XX. */
  readonly responses: Readonly<Record<string, GatewayResponse>>;
  readonly binaryMediaTypes: readonly string[];
  readonly usagePlans: Readonly<Record<string, UsagePlan>>;
}

/** One digit for each segment: 0 is exact, 1 a parameter, 2 all further segments. The most exact path sorts first. */
const exactness = (path: string): string =>
  path
    .split("/")
    .map((segment) => Number(segment.startsWith("{")) + Number(segment.endsWith("+}")))
    .join("");

/** Lists the methods of the path that matches a request, or of the most exact one if several match. */
export const listMethods = ({ methods }: RestApi, requestPath: string): readonly Method[] => {
  const matching = methods.filter(({ path }) => readPath(path, requestPath));
  const [closest] = matching.map(({ path }) => exactness(path)).toSorted();
  return matching.filter(({ path }) => exactness(path) === closest);
};
