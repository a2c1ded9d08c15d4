import type * as z from "zod/mini";
import { cached, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { kidPattern, tokenKeySchema } from "#lib/secrets/schemas.ts";
import { readBothStages, readSecret } from "#lib/secrets/secret.ts";

export type TokenKey = z.infer<ReturnType<typeof tokenKeySchema>>;

/** A revoked key is used for at most this time. */
export const maxAgeSeconds = 300;
/** Rate-limits refetches caused by unknown key ids, per environment. */
const minRefetchMs = 1_000;

const secretId = () => getSetting("TOKEN_KEY_SECRET_ID");

const fetchCurrent = async () => readSecret(secretId(), tokenKeySchema());

const fetchBoth = async () => readBothStages(secretId(), tokenKeySchema());

const signing = cached("the signing key", maxAgeSeconds * 1_000, fetchCurrent);
const verifying = cached("the verifying keys", maxAgeSeconds * 1_000, fetchBoth);

/** Returns the signing key: the secret's AWSCURRENT, at most five minutes old. */
export const getSigningKey = (): Promise<TokenKey> => signing.get();

let lastMissAt = Number.NEGATIVE_INFINITY;

/**
 * Returns the key with this id among AWSCURRENT and AWSPREVIOUS. An unknown id causes one refetch: the key may have
 * been rotated just now.
 */
export const findVerifyingKey = async (kid: string): Promise<TokenKey | undefined> => {
  const byId = (keys: readonly TokenKey[]) => keys.find((key) => key.kid === kid);
  const known = byId(await verifying.get());
  if (known || !kidPattern.test(kid) || Date.now() - lastMissAt < minRefetchMs) return known;
  const found = byId(await verifying.refresh());
  if (!found) lastMissAt = Date.now();
  return found;
};

/** Starts fetching the secret while the module loads; an error surfaces at first use. */
export const prepareSigning = (): void => prepare(signing);
export const prepareVerifying = (): void => prepare(verifying);
