import { createHmac } from "node:crypto";
import type * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { lazy } from "#lib/lazy.ts";
import { pepperSchema } from "./schemas.ts";
import { readSecret } from "./secret.ts";

type Pepper = z.infer<ReturnType<typeof pepperSchema>>;

const pepper = lazy(async () => readSecret(getSetting("PEPPER_SECRET_ID"), pepperSchema()));

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
