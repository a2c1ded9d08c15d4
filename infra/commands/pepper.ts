import { findSetting } from "#lib/config.ts";
import { pepperSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import type { SecretValue } from "#lib/secrets/table/table.ts";
import { readLocalSecret } from "../local/secrets/store.ts";

type Pepper = SecretValue<"audit-pepper">;

/**
 * Finds the pepper of digests: that of the running `npm run dev`, or the secret that a setting names.
 *
 * @returns undefined with another database, while nothing is set.
 */
export const findPepper = async (
  setting: "PEPPER_SECRET_ID" | "OPT_OUT_PEPPER_SECRET_ID",
  local: "audit-pepper" | "attempt-pepper" | "opt-out-pepper",
): Promise<Pepper | undefined> => {
  const secret = findSetting(setting);
  if (secret) return readSecret(secret, pepperSchema());
  if (findSetting("DATABASE_URL") ?? findSetting("DATABASE_SECRET_ID")) return undefined;
  return readLocalSecret(local);
};
