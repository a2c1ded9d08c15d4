import type { Auth, Secrets } from "./route.ts";

/** One authorizer function of the gateway, shared by every route with its kind of auth. */
export interface Authorizer {
  /** Module under `functions/`. */
  readonly fn: `authorizers/${string}`;
  readonly kind: Exclude<Auth["kind"], "public">;
  /**
   * Headers that the gateway requires and uses as its cache key. Missing ones are a 401 without a call.
   * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
   */
  readonly identityHeaders: readonly string[];
  /** How long the gateway keeps a policy; 0 asks the function for every request. */
  readonly cacheSeconds: number;
  readonly secrets: Secrets;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/**
 * Partner keys come in `apikey` or `x-api-key`. The gateway's cache would need both headers at once, so
 * the function keeps its own cache of found keys instead.
 */
export const apiKeyAuthorizer: Authorizer = {
  fn: "authorizers/api-key",
  kind: "apiKey",
  identityHeaders: [],
  cacheSeconds: 0,
  secrets: { DATABASE_SECRET_ID: "database/gatekeeper" },
  timeoutSeconds: 5,
  memoryMb: 256,
};

/**
 * Access tokens come in `Authorization`. The gateway keeps a verified one for five minutes; that it may
 * expire within them is looked at before each endpoint (`lib/http/caller.ts`).
 */
export const bearerAuthorizer: Authorizer = {
  fn: "authorizers/bearer",
  kind: "bearer",
  identityHeaders: ["authorization"],
  cacheSeconds: 300,
  secrets: { TOKEN_KEY_SECRET_ID: "token-key" },
  timeoutSeconds: 5,
  memoryMb: 256,
};

/**
 * Messaging credentials come in `Authorization`. The gateway keeps its answer for a minute only: beside the
 * five minutes that the function keeps the secret, it adds to the time until a withdrawn password is dead.
 */
export const basicAuthorizer: Authorizer = {
  fn: "authorizers/basic",
  kind: "basic",
  identityHeaders: ["authorization"],
  cacheSeconds: 60,
  secrets: { BASIC_SECRET_ID: "messaging-basic" },
  timeoutSeconds: 5,
  memoryMb: 256,
};
