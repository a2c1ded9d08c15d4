import { UnsecuredJWT } from "jose";
import postgres from "postgres";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { routes } from "#lib/routes/index.ts";
import type { Auth, PartnerScope, Route } from "#lib/routes/route.ts";
import type { City } from "../../../infra/local/city.ts";
import { signAccessToken } from "../../steps/access-tokens.ts";
import { basicHeader } from "../../steps/messaging.ts";
import { type Finding, Tally } from "./finding.ts";
import { apiOf, credentialOf, type Headers, openLine, type Target } from "./target.ts";

/** A credential, and what it opens. */
interface Presented {
  readonly about: string;
  readonly headers: Headers;
  /** Undefined opens nothing. */
  readonly opens?: { readonly kind: Auth["kind"]; readonly scopes: readonly string[] };
}

type Kind = Exclude<Auth["kind"], "public">;

const scopesOf = (kind: Kind): string[] => [
  ...new Set(routes.flatMap(({ auth }) => (auth.kind === kind && "scope" in auth ? [auth.scope] : []))),
];

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** What anyone can present without knowing a secret. */
const inventable: readonly Presented[] = [
  { about: "nothing", headers: {} },
  { about: "empty headers", headers: { authorization: "", apikey: "" } },
  { about: "a made-up key", headers: { apikey: `mia_${"A".repeat(43)}` } },
  { about: "a made-up token", headers: bearer("a.b.c") },
  { about: "a made-up password", headers: { authorization: basicHeader({ username: "a", password: "b" }) } },
  {
    about: "a token without signature",
    headers: bearer(new UnsecuredJWT({ sub: "1", scope: scopesOf("bearer").join(" ") }).encode()),
  },
];

const tokensOf = async (city: City): Promise<Presented[]> => {
  const scope = scopesOf("bearer").join(" ");
  const past = Math.floor(Date.now() / 1_000) - 60;
  const wrong: [string, Record<string, unknown>][] = [
    ["an expired token", { exp: past }],
    ["a token without end", { exp: undefined }],
    ["a token of another issuer", { iss: "somebody" }],
    ["a token for another audience", { aud: "somebody" }],
    ["a token of tomorrow", { nbf: past + 86_400, exp: past + 90_000 }],
  ];
  const forged = wrong.map(async ([about, claims]) => ({
    about,
    headers: bearer(await signAccessToken(city, { scope, ...claims })),
  }));
  const scoped = [...scopesOf("bearer"), "", "employee", "resident:read"].map(async (one) => ({
    about: `a token of the scope "${one}"`,
    headers: bearer(await signAccessToken(city, { scope: one })),
    opens: { kind: "bearer" as const, scopes: [one] },
  }));
  const tampered = scopesOf("bearer").map(async (one) => {
    const [head, , signature] = (await signAccessToken(city, { scope: "" })).split(".");
    const [, body] = (await signAccessToken(city, { scope: one })).split(".");
    return { about: "a token with another one's signature", headers: bearer(`${head}.${body}.${signature}`) };
  });
  return Promise.all([...forged, ...scoped, ...tampered]);
};

const keysOf = async ({ database }: City): Promise<Presented[]> => {
  const sql = database.connectAs("partner-admin");
  const admin = postgres(database.adminUrl, { max: 1 });
  const { add, revoke } = partnerDirectory(sql);
  const issue = (scopes: readonly string[], expiresAt?: Date) =>
    add("attack", "standard", { scopes: scopes as PartnerScope[], expiresAt });
  try {
    const presented: Presented[] = [];
    for (const scope of scopesOf("apiKey")) {
      const { key } = await issue([scope]);
      presented.push({
        about: `a key of the scope ${scope}`,
        headers: { apikey: key },
        opens: { kind: "apiKey", scopes: [scope] },
      });
    }
    const none = await issue(["resident:read"]);
    await admin`update partner.api_key set scopes = '{tourism:write}' where id = ${none.keyId}`;
    presented.push({
      about: "a key of another scope",
      headers: { apikey: none.key },
      opens: { kind: "apiKey", scopes: [] },
    });
    const late = await issue(["resident:read"], new Date(Date.now() + 60_000));
    await admin`update partner.api_key set expires_at = now() - interval '1 second' where id = ${late.keyId}`;
    presented.push({ about: "an expired key", headers: { apikey: late.key } });
    const revoked = await issue(["resident:read"]);
    await revoke(revoked.keyId);
    presented.push({ about: "a revoked key", headers: { apikey: revoked.key } });
    return presented;
  } finally {
    await Promise.all([sql.end(), admin.end()]);
  }
};

/** The target's own credentials, which open every route of their kind. */
const validOf = (target: Target): Presented[] =>
  (["apiKey", "bearer", "basic"] as const).flatMap((kind) => {
    const headers = credentialOf(target, kind);
    return headers
      ? [{ about: `the valid credential (${kind})`, headers, opens: { kind, scopes: scopesOf(kind) } }]
      : [];
  });

/** @returns 401 or 403 where the credential must not open the route; undefined where it must. */
const expectedOf = ({ auth }: Route, { opens }: Presented): 401 | 403 | undefined => {
  if (auth.kind === "public") return undefined;
  if (opens?.kind !== auth.kind) return 401;
  return !("scope" in auth) || opens.scopes.includes(auth.scope) ? undefined : 403;
};

/** Which platforms call: the function itself checks who calls, and none of these credentials opens it. */
const isOfPlatform = ({ path }: Route): boolean => path.startsWith("/webhooks/");

/** Presents every credential to every route, as the route table says which one opens it. */
export const attackAccess = async (target: Target): Promise<Finding[]> => {
  const tally = new Tally("every route with every credential and scope");
  const { city } = target;
  const minted = city ? [...(await tokensOf(city)), ...(await keysOf(city))] : [];
  for (const route of routes) {
    const line = openLine(target.unlimited[apiOf(route).name]);
    for (const presented of [...inventable, ...minted, ...validOf(target)]) {
      await target.pace();
      const path = route.path.replace(/\{\w+\}/, "x");
      // an empty body is invalid wherever it matters, so that nothing is sent or changed
      const { status } = await line.send({ method: route.method, path, headers: presented.headers });
      const expected = expectedOf(route, presented);
      const isRejected = status === 401 || status === 403;
      const isOpen = isOfPlatform(route) ? isRejected : !isRejected;
      const holds = expected === undefined ? isOpen : status === expected;
      tally.count(
        holds
          ? undefined
          : `${route.method} ${route.path} with ${presented.about} is ${status}, not ${expected ?? "open"}`,
      );
    }
    await line.close();
  }
  return [tally.finding];
};
