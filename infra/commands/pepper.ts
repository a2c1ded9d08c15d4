import { findSetting } from "#lib/config.ts";
import { pepperSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import type { SecretValue } from "#lib/secrets/table/table.ts";
import { readLocalSecret } from "../local/secrets/store.ts";
import { WrongCall } from "./command.ts";
import { isLocal } from "./connect.ts";

type Pepper = SecretValue<"audit-pepper">;

/** What an operator does without the right pepper of the audit. */
export const setAuditPepper = "Set PEPPER_SECRET_ID to the full name of the stage's secret audit-pepper";

/**
 * Finds the pepper of digests: that of the running `npm run dev`, or the secret that a setting names.
 *
 * @returns undefined with another database, while nothing is set.
 * @throws WrongCall if the setting names another secret: all have the same shape, and digests by the wrong one match nobody.
 */
export const findPepper = async (
  setting: "PEPPER_SECRET_ID" | "OPT_OUT_PEPPER_SECRET_ID",
  local: "audit-pepper" | "attempt-pepper" | "opt-out-pepper",
): Promise<Pepper | undefined> => {
  const secret = findSetting(setting);
  if (secret && !secret.includes(local))
    throw new WrongCall(`${setting} must be the full name of the secret ${local}.`);
  if (secret) return readSecret(secret, pepperSchema());
  return isLocal() ? readLocalSecret(local) : undefined;
};
