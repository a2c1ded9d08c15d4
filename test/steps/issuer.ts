import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** How the issuer misbehaves at the next login. */
export interface IssuerMood {
  /** The operator refuses, or the issuer does. */
  readonly refuses?: boolean;
  readonly state?: string;
  /** Claims of the ID token instead of the right ones. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly expiresInSeconds?: number;
  /** Signs with a key that it does not publish. */
  readonly signsWithOtherKey?: boolean;
  readonly isDown?: boolean;
}

/** An issuer of OpenID Connect on loopback. It logs in one person, who has the group of an operator, without questions. */
export const startIssuer = async () => {
  const [key, otherKey] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwk = { ...(await exportJWK(key.publicKey)), kid: "1", alg: "RS256", use: "sig" };
  const codes = new Map<string, URLSearchParams>();
  const issuer = { failureMode: {} as IssuerMood, url: "", asked: [] as URLSearchParams[] };

  const signToken = (asked: URLSearchParams) => {
    const { claims, expiresInSeconds = 60, signsWithOtherKey } = issuer.failureMode;
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({
      iss: issuer.url,
      aud: asked.get("client_id") ?? "",
      sub: "5a2c8e01",
      preferred_username: "sari",
      "cognito:groups": ["messenger-viewer", "messenger-operator", "others"],
      nonce: asked.get("nonce"),
      iat: now - 120,
      auth_time: now,
      exp: now + expiresInSeconds,
      ...claims,
    })
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .sign((signsWithOtherKey ? otherKey : key).privateKey);
  };
  const authorize = (asked: URLSearchParams): URL => {
    const back = new URL(asked.get("redirect_uri") ?? "");
    issuer.asked.push(asked);
    back.searchParams.set("state", issuer.failureMode.state ?? asked.get("state") ?? "");
    if (issuer.failureMode.refuses) back.searchParams.set("error", "access_denied");
    else {
      const code = randomUUID();
      codes.set(code, asked);
      back.searchParams.set("code", code);
    }
    return back;
  };
  /** @returns undefined for a code that is unknown, used or not of this verifier. */
  const exchange = async (form: URLSearchParams) => {
    const code = form.get("code") ?? "";
    const asked = codes.get(code);
    codes.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (asked?.get("code_challenge") !== challenge) return undefined;
    return { access_token: "unused", token_type: "Bearer", id_token: await signToken(asked) };
  };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", issuer.url);
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (issuer.failureMode.isDown) return send(503, {});
    if (pathname === "/authorize")
      return response.writeHead(302, { location: authorize(searchParams).href }).end();
    if (pathname === "/jwks") return send(200, { keys: [jwk] });
    if (pathname === "/token") {
      const answer = await exchange(new URLSearchParams(await text(request)));
      return send(answer ? 200 : 400, answer ?? { error: "invalid_grant" });
    }
    return send(200, {
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
      jwks_uri: `${issuer.url}/jwks`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      code_challenge_methods_supported: ["S256"],
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // another name than that of the console, so that browsers treat it as another site
  issuer.url = `http://localhost:${(server.address() as AddressInfo).port}`;
  return Object.assign(issuer, {
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  });
};
