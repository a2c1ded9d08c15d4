import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { City } from "../../infra/local/city.ts";
import { localSecretName } from "../../infra/local/secrets/store.ts";

/**
 * Signs a token that is accepted once and expires soon: within a second, or later on a machine that is so slow.
 *
 * @param use a request with it; its status.
 */
export const signBriefToken = async (
  sign: (exp: number) => Promise<string>,
  use: (token: string) => Promise<number>,
): Promise<string> => {
  for (let seconds = 1; ; seconds *= 2) {
    const token = await sign(Math.floor(Date.now() / 1_000) + seconds);
    if ((await use(token)) === 200) return token;
  }
};

/** Signs an access token as the product does, with the city's current key. @param claims replace the usual ones. */
export const signAccessToken = (
  { secrets }: City,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const { k, kid } = JSON.parse(secrets.find(localSecretName("token-key"))?.value ?? "{}");
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    iss: "municipal-integration-api",
    aud: "municipal-integration-api/v1",
    sub: "1",
    jti: randomUUID(),
    iat: now,
    nbf: now - 5,
    exp: now + 900,
    ...claims,
  })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid })
    .sign(Buffer.from(k, "base64url"));
};
