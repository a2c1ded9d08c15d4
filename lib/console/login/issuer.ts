import * as client from "openid-client";
import { lazy } from "#lib/cached.ts";
import { steadyNow } from "#lib/deadline.ts";
import type { Attempt } from "./pending-login.ts";
import { type Operator, roles } from "./roles.ts";

export interface IssuerSettings {
  /** Issuer identifier of OpenID Connect, such as that of a Cognito user pool. */
  readonly url: string;
  readonly clientId: string;
  /** Resolves to undefined for a public client: PKCE protects the code. */
  readonly findClientSecret: () => Promise<string | undefined>;
  /** The claim with the operator's groups. */
  readonly groupsClaim: string;
}

/** Of one request to the issuer. */
const timeoutSeconds = 5;
const groupPrefix = "messenger-";
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The secret could not be read: nothing was asked of the issuer. */
class SecretUnavailable extends Error {}

const discover = async ({ url, clientId, findClientSecret }: IssuerSettings) => {
  const clientSecret = await findClientSecret().catch((cause: unknown) => {
    throw new SecretUnavailable("the client's secret cannot be read", { cause });
  });
  const server = new URL(url);
  const isLocal = server.protocol === "http:" && loopback.has(server.hostname);
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
  return client.discovery(server, clientId, undefined, authentication, {
    // the signature of the ID token is checked too, not only the connection that brought it
    execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
    timeout: timeoutSeconds,
  });
};

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** @returns undefined for a person without one of the groups `messenger-viewer`, `-operator` and `-admin`. */
const toOperator = (
  claims: client.IDToken,
  { groupsClaim }: Pick<IssuerSettings, "groupsClaim">,
): Operator | undefined => {
  const groups = [claims[groupsClaim] ?? []].flat();
  const role = roles.findLast((one) => groups.includes(`${groupPrefix}${one}`));
  const names = ["preferred_username", "cognito:username", "email"].map((name) => textOf(claims[name]));
  const name = names.find((one) => one !== undefined && one !== "") ?? claims.sub;
  return role && { id: `${claims.iss} ${claims.sub}`, name: name.slice(0, 200), role };
};

/** Logs operators in at an issuer of OpenID Connect, by authorization code with PKCE, state and nonce. */
export const openIssuer = (settings: IssuerSettings) => {
  const configuration = lazy(() => discover(settings));
  return {
    /** @returns where to send the operator's browser. */
    async begin(redirectUri: string): Promise<{ url: URL; attempt: Attempt }> {
      const verifier = client.randomPKCECodeVerifier();
      const attempt = {
        redirectUri,
        verifier,
        state: client.randomState(),
        nonce: client.randomNonce(),
        begunAt: steadyNow(),
      };
      const url = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: "openid profile email",
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state: attempt.state,
        nonce: attempt.nonce,
        // a login that was idle for 15 minutes must not continue without the operator
        prompt: "login",
        // with it the issuer says when the operator has logged in, which is checked below
        max_age: "0",
      });
      return { url, attempt };
    },

    /**
     * Exchanges the code of the issuer's answer and checks the ID token.
     *
     * @param path of the request, with the answer in its query.
     * @returns undefined for a person without a role.
     */
    async finish(path: string, attempt: Attempt): Promise<Operator | undefined> {
      const tokens = await client.authorizationCodeGrant(
        await configuration(),
        new URL(path, attempt.redirectUri),
        {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
          maxAge: Math.ceil((steadyNow() - attempt.begunAt) / 1_000),
        },
      );
      const claims = tokens.claims();
      return claims && toOperator(claims, settings);
    },

    /** Whether the secret could not be read, the issuer could not be reached, or its answer was rejected. */
    explain(error: unknown): "unavailable" | "issuerDown" | "issuerRejected" {
      if (error instanceof SecretUnavailable) return "unavailable";
      const { code, cause } = error as { code?: string; cause?: { status?: number } };
      const isDown =
        error instanceof TypeError ||
        code === "OAUTH_TIMEOUT" ||
        (code === "OAUTH_RESPONSE_IS_NOT_CONFORM" && (cause?.status ?? 0) >= 500);
      return isDown ? "issuerDown" : "issuerRejected";
    },
  };
};

export type Issuer = ReturnType<typeof openIssuer>;
