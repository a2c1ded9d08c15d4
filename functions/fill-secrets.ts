import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { log } from "#lib/log.ts";
import { inventions } from "#lib/secrets/inventions.ts";
import { findSecret } from "#lib/secrets/secret.ts";
import { writeVersion } from "#lib/secrets/secret-version.ts";

/**
 * Runs during a deployment: gives each empty secret its first value. Later only an operator or a rotation changes
 * it. An error fails the deployment.
 */
export const handler = async (): Promise<void> => {
  for (const [name, invent] of Object.entries(inventions)) {
    const id = `${getSetting("SECRETS_PREFIX")}${name}`;
    if ((await findSecret(id, z.unknown(), "AWSCURRENT")) !== undefined) continue;
    await writeVersion(id, invent());
    log.info("an empty secret has its first value", { id });
  }
};
