import { randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import * as z from "zod/mini";
import type { Account } from "#lib/http/caller.ts";
import { findVerifyingKey, getSigningKey, type TokenKey } from "./token-key.ts";

/** Lifetime of an access token, returned as `expires_in`. */
export const lifetimeSeconds = 900;

const issuer = "municipal-integration-api";
const audience = "municipal-integration-api/v1";
/** Distinguishes an access token from other JWTs signed with the same key (RFC 8725, 3.11; RFC 9068, 2.1). */
const type = "at+jwt";
const algorithm = "HS256";

/** `nbf` lies slightly before `iat`, because the verifier's clock may be behind. */
const clockSkewSeconds = 5;

const Claims = z.object({ sub: z.string(), scope: z.string(), exp: z.int() });

const bytesOf = ({ k }: TokenKey) => Buffer.from(k, "base64url");

/** Issues a JWT for the account (RFC 7519), signed with the current key. */
export const issueAccessToken = async ({
  accountId,
  scope,
}: {
  accountId: string;
  scope: string;
}): Promise<string> => {
  const key = await getSigningKey();
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: algorithm, typ: type, kid: key.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(accountId)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setNotBefore(now - clockSkewSeconds)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(bytesOf(key));
};

/**
 * Returns the account of a valid token, or undefined for any other text.
 *
 * @throws Error when the keys cannot be fetched.
 */
export const verifyAccessToken = async (token: string): Promise<Account | undefined> => {
  const findKey = async ({ kid }: { kid?: unknown }) => {
    const key = typeof kid === "string" ? await findVerifyingKey(kid) : undefined;
    if (!key) throw new errors.JWSSignatureVerificationFailed();
    return bytesOf(key);
  };
  try {
    const { payload } = await jwtVerify(token, findKey, {
      algorithms: [algorithm],
      typ: type,
      issuer,
      audience,
      requiredClaims: ["sub", "scope", "iat", "nbf", "exp"],
    });
    const claims = Claims.safeParse(payload);
    if (!claims.success) return undefined;
    const { sub, scope, exp } = claims.data;
    return { accountId: sub, scopes: scope.split(" "), expiresAt: exp };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
};
