import { setTimeout } from "node:timers/promises";
import { isYounger } from "#lib/cached.ts";
import { isBusy, releaseConnection, withDatabase } from "#lib/db/database.ts";
import type { Partner } from "#lib/http/caller.ts";
import { log } from "#lib/log.ts";
import { digestToken, isToken } from "#lib/opaque-token.ts";

export interface AuthenticatedPartner extends Partner {
  /** Identifies the partner's usage plan to API Gateway, for throttling and quota. */
  readonly usageIdentifier: string;
}

type Row = Omit<AuthenticatedPartner, "scopes"> & { scopes: string };

export const keyPrefix = "mia_";

/** How long a warm environment may still reject a key that was sent before it was active. */
const rejectedMs = 10_000;
/** 1,000 entries take less than 1 MB. */
const maxRejected = 1_000;

/** API Gateway caches the policies of active keys only. */
const rejected = new Map<string, number>();

/** Adds a key in place of the oldest one. */
const reject = (id: string) => {
  const [oldest] = rejected.keys();
  if (rejected.size >= maxRejected && oldest !== undefined) rejected.delete(oldest);
  rejected.set(id, Date.now());
};

/** API Gateway has no other response than 500 for an authorizer that fails, so it waits: others return theirs soon. */
const busyMs = 2_000;
const retryMs = 50;

const look = async (digest: Buffer): Promise<Row | undefined> => {
  for (const until = performance.now() + busyMs; ; await setTimeout(retryMs * (1 + Math.random()))) {
    try {
      const [row] = await withDatabase(
        (sql) => sql<Row[]>`
          select partner_id as "partnerId", key_id as "keyId", scopes,
            usage_identifier as "usageIdentifier"
          from partner.authenticate(${digest})`,
      );
      return row;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      log.warn("the authorizer waits for a database connection");
    }
  }
};

/**
 * Finds the partner with this active key. Returns undefined for an unknown, revoked or expired key.
 *
 * Rejected keys are cached for 10 s. A text that cannot be a key costs no query.
 */
export const findPartnerByKey = async (key: string): Promise<AuthenticatedPartner | undefined> => {
  if (!isToken(keyPrefix, key)) return undefined;
  const digest = digestToken(key);
  const id = digest.toString("base64");
  if (isYounger(rejected.get(id) ?? 0, rejectedMs)) return undefined;
  rejected.delete(id);
  const row = await look(digest);
  // it is not needed soon, and other environments may wait for one
  await releaseConnection();
  if (row) return { ...row, scopes: row.scopes.split(" ") };
  reject(id);
  return undefined;
};
