import type * as z from "zod/mini";
import { cached, isYounger, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { kidPattern, tokenKeySchema } from "#lib/secrets/schemas.ts";
import { readBothStages, readSecret } from "#lib/secrets/secret.ts";

export type TokenKey = z.infer<ReturnType<typeof tokenKeySchema>>;

/** A revoked key is used for at most this time. */
export const maxAgeSeconds = 300;
/**
 * Unknown key ids, which cost an attacker nothing, cause at most one refetch in this time per environment. While that
 * lasts, the first tokens of a key rotated just now may be rejected.
 */
const minRefetchMs = 10_000;

const secretId = () => getSetting("TOKEN_KEY_SECRET_ID");

const fetchCurrent = async () => readSecret(secretId(), tokenKeySchema());

const fetchBoth = async () => readBothStages(secretId(), tokenKeySchema());

const signing = cached("the signing key", maxAgeSeconds * 1_000, fetchCurrent);
const verifying = cached("the verifying keys", maxAgeSeconds * 1_000, fetchBoth);

/** Returns the signing key: the secret's AWSCURRENT, at most five minutes old. */
export const getSigningKey = (): Promise<TokenKey> => signing.get();

/** The last refetch that an unknown key id caused, unless it found the key. */
let refetch: { keys: Promise<TokenKey[]>; at: number } | undefined;

/**
 * Returns the key with this id among AWSCURRENT and AWSPREVIOUS. An unknown id causes a refetch: the key may have been
 * rotated just now. Callers with a known id do not wait for it; those with unknown ids share it, also if it fails.
 */
export const findVerifyingKey = async (kid: string): Promise<TokenKey | undefined> => {
  const byId = (keys: readonly TokenKey[]) => keys.find((key) => key.kid === kid);
  const known = byId(await verifying.get());
  if (known || !kidPattern.test(kid)) return known;
  if (!refetch || !isYounger(refetch.at, minRefetchMs))
    refetch = { keys: verifying.refresh(), at: Date.now() };
  const found = byId(await refetch.keys);
  if (found) refetch = undefined;
  return found;
};

/** Starts fetching the secret while the module loads; an error surfaces at first use. */
export const prepareSigning = (): void => prepare(signing);
export const prepareVerifying = (): void => prepare(verifying);
