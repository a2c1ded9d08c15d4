import { isYounger } from "#lib/cached.ts";
import { withDatabase } from "#lib/db/database.ts";
import type { Partner } from "#lib/http/caller.ts";
import { digestToken } from "#lib/opaque-token.ts";

export interface AuthenticatedPartner extends Partner {
  /** Identifies the partner's usage plan to API Gateway, for throttling and quota. */
  readonly usageIdentifier: string;
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null;
}

type Row = Omit<AuthenticatedPartner, "scopes"> & { scopes: string };

/** How long a warm environment may still accept a revoked key. */
const cacheMs = 30_000;
const maxCached = 1_000;

const cache = new Map<string, { partner: AuthenticatedPartner; at: number }>();

const hasExpired = ({ expiresAt }: AuthenticatedPartner): boolean =>
  expiresAt !== null && expiresAt.getTime() <= Date.now();

const remember = (id: string, partner: AuthenticatedPartner) => {
  if (cache.size >= maxCached) cache.clear();
  cache.set(id, { partner, at: Date.now() });
};

/**
 * Finds the partner with this active key. Returns undefined for an unknown, revoked or expired key.
 *
 * Active keys are cached for 30 s, but not beyond their expiry; other keys are not cached.
 */
export const findPartnerByKey = async (key: string): Promise<AuthenticatedPartner | undefined> => {
  const digest = digestToken(key);
  const id = digest.toString("base64");
  const entry = cache.get(id);
  if (entry && isYounger(entry.at, cacheMs) && !hasExpired(entry.partner)) return entry.partner;
  cache.delete(id);
  const [row] = await withDatabase(
    (sql) => sql<Row[]>`
      select partner_id as "partnerId", key_id as "keyId", scopes,
        usage_identifier as "usageIdentifier", expires_at as "expiresAt"
      from partner.authenticate(${digest})`,
  );
  if (!row) return undefined;
  const partner = { ...row, scopes: row.scopes.split(" ") };
  remember(id, partner);
  return partner;
};
