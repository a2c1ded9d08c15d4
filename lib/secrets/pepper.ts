import { createHmac } from "node:crypto";
import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { secret } from "#lib/secrets/secret.ts";

/** `version` goes beside each digest, so that the pepper can change and old rows stay comparable. */
export const Pepper = z.object({ version: z.int(), pepper: z.string().check(z.minLength(32)) });
type Pepper = z.infer<typeof Pepper>;

const pepper = secret(() => getSetting("PEPPER_SECRET_ID"), Pepper);

/** Starts the secret's fetch while the module loads; a failure shows at the first use. */
export const preparePepper = (): void => {
  pepper().catch(() => {});
};

/** Digests terms with a pepper that is at hand. */
export const digestWith = ({ version, pepper: key }: Pepper) => ({
  version,
  digest: (term: string | undefined): Buffer | null =>
    term === undefined ? null : createHmac("sha256", key).update(term).digest(),
});

/**
 * Digests a term that must not be stored in clear: HMAC-SHA-256, so that the database tells whether two
 * terms are the same but not which. The pepper stays outside the database: 16 digits are soon guessed.
 */
export const digestTerm = async () => digestWith(await pepper());
