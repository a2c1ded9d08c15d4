import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { log } from "#lib/log.ts";
import { findSecret } from "#lib/secrets/secret.ts";
import { writeVersion } from "#lib/secrets/secret-version.ts";
import { mintedSecrets, secretTable } from "#lib/secrets/table/table.ts";

/**
 * Runs during a deployment: sets the first value of each empty secret. Later only operators and rotation change it. An
 * error fails the deployment.
 */
export const handler = async (): Promise<void> => {
  for (const name of mintedSecrets) {
    const id = `${getSetting("SECRETS_PREFIX")}${name}`;
    if ((await findSecret(id, z.unknown(), "AWSCURRENT")) !== undefined) continue;
    await writeVersion(id, secretTable[name].mint());
    log.info("set the first value of a secret", { id });
  }
};
