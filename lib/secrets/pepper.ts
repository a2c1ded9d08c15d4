import { createHmac } from "node:crypto";
import type * as z from "zod/mini";
import { lazy } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { pepperSchema } from "./schemas.ts";
import { readSecret } from "./secret.ts";

type Pepper = z.infer<ReturnType<typeof pepperSchema>>;

const pepper = lazy(async () => readSecret(getSetting("PEPPER_SECRET_ID"), pepperSchema()));

/** Starts fetching the secret while the module loads; an error surfaces at first use. */
export const preparePepper = (): void => {
  pepper().catch(() => {});
};

/** Digests terms with the given pepper. */
export const digestWith = ({ version, pepper: key }: Pepper) => {
  function digest(term: string): Buffer;
  function digest(term: string | undefined): Buffer | null;
  function digest(term: string | undefined): Buffer | null {
    return term === undefined ? null : createHmac("sha256", key).update(term).digest();
  }
  return { version, digest };
};

/**
 * Digests a term that must not be stored in plain text, by HMAC-SHA-256: equal terms have equal digests. The pepper is
 * outside the database, because 16 digits can be guessed.
 */
export const digestTerm = async () => digestWith(await pepper());
