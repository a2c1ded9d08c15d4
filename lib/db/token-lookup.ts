import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { isYounger } from "#lib/cached.ts";
import { log } from "#lib/log.ts";
import { digestToken, isToken } from "#lib/opaque-token.ts";
import { isBusy, releaseConnection, withDatabase } from "./database.ts";

/** How long a warm environment may still reject a token that was sent before it was active. */
const rejectedMs = 10_000;
/** 1,000 entries take less than 1 MB. */
const maxRejected = 1_000;

/** API Gateway has no other response than 500 for an authorizer that fails, so it waits: others return theirs soon. */
const busyMs = 2_000;
const retryMs = 50;

const look = async <R>(query: (sql: postgres.Sql) => Promise<readonly R[]>): Promise<R | undefined> => {
  for (const until = performance.now() + busyMs; ; await setTimeout(retryMs * (1 + Math.random()))) {
    try {
      const [row] = await withDatabase(query);
      return row;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      log.warn("the authorizer waits for a database connection");
    }
  }
};

/**
 * Creates an authorizer's lookup of tokens with this prefix. It returns undefined for an unknown, revoked or expired one.
 *
 * Rejected tokens are cached for 10 s; API Gateway caches the policies of active ones. A text that cannot be a token
 * costs no query.
 *
 * @param query finds the row of a token's digest, and of the name that was sent with it, if any.
 */
export const tokenLookup = <R>(
  prefix: string,
  query: (sql: postgres.Sql, digest: Buffer, name: string) => Promise<readonly R[]>,
) => {
  const rejected = new Map<string, number>();
  /** Adds a token in place of the oldest one. */
  const reject = (id: string) => {
    const [oldest] = rejected.keys();
    if (rejected.size >= maxRejected && oldest !== undefined) rejected.delete(oldest);
    rejected.set(id, Date.now());
  };
  return async (token: string, name = ""): Promise<R | undefined> => {
    if (!isToken(prefix, token)) return undefined;
    const digest = digestToken(token);
    // of both: the token may be sent with its right name next
    const id = digestToken(`${name} ${token}`).toString("base64");
    if (isYounger(rejected.get(id) ?? 0, rejectedMs)) return undefined;
    rejected.delete(id);
    const row = await look((sql) => query(sql, digest, name));
    // it is not needed soon, and other environments may wait for one
    await releaseConnection();
    if (!row) reject(id);
    return row;
  };
};
