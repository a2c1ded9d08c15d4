import type { Secrets } from "#lib/secrets/table/table.ts";
import type { Auth } from "./route.ts";

/** One authorizer function, shared by all routes with its kind of auth. */
export interface Authorizer {
  /** Module under `functions/`. */
  readonly fn: `authorizers/${string}`;
  readonly kind: Exclude<Auth["kind"], "public">;
  /**
   * Headers that the gateway requires and uses as cache key. A missing one is a 401 without a call.
   * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
   */
  readonly identityHeaders: readonly string[];
  /** Seconds for which the gateway caches a policy; 0 calls the function for every request. */
  readonly cacheSeconds: number;
  readonly secrets: Secrets;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Partner keys come in `apikey`. The gateway caches the policy for 30 seconds: so long a revoked key may still work. */
export const apiKeyAuthorizer: Authorizer = {
  fn: "authorizers/api-key",
  kind: "apiKey",
  identityHeaders: ["apikey"],
  cacheSeconds: 30,
  secrets: { DATABASE_SECRET_ID: "database/gatekeeper" },
  timeoutSeconds: 5,
  memoryMb: 256,
};

/**
 * Access tokens come in `Authorization`. The gateway caches the policy for five minutes, so each endpoint checks the
 * expiry again (`lib/http/caller.ts`).
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
 * Messaging credentials come in `Authorization`. The gateway caches the policy for 30 seconds: so long a revoked
 * password may still work. One that is removed from the secret, which the function caches, works five minutes longer.
 */
export const basicAuthorizer: Authorizer = {
  fn: "authorizers/basic",
  kind: "basic",
  identityHeaders: ["authorization"],
  cacheSeconds: 30,
  secrets: { BASIC_SECRET_ID: "messaging-basic", DATABASE_SECRET_ID: "database/gatekeeper" },
  timeoutSeconds: 5,
  memoryMb: 256,
};
