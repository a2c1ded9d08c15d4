import * as z from "zod/mini";
import { findSetting, getSetting } from "#lib/config.ts";
import { ConnectionLimits, limitConnections } from "#lib/db/connection-limits.ts";
import { findDeployment } from "#lib/db/deployment.ts";
import { requireLogSettings } from "#lib/db/log-settings.ts";
import { migrate } from "#lib/db/migrate.ts";
import { withLogin } from "#lib/db/password.ts";
import { ensureRoleLogins } from "#lib/db/role-login.ts";
import { log } from "#lib/log.ts";
import { readSecret } from "#lib/secrets/secret.ts";

/** The administrator's credentials; a secret managed by RDS has only these fields. */
const Admin = z.object({ username: z.string(), password: z.string() });

/**
 * Runs during a deployment, before any other function: migrates the schema, and sets each role's password from its
 * secret and its share of the server's connections. An error fails the deployment.
 */
export const handler = async (): Promise<void> => {
  const admin = await readSecret(getSetting("DATABASE_SECRET_ID"), Admin);
  const limits = ConnectionLimits.parse(JSON.parse(findSetting("CONNECTION_LIMITS") ?? "{}"));
  const [host, port] = [getSetting("DATABASE_HOST"), Number(getSetting("DATABASE_PORT"))];
  const address = { host, port, dbname: getSetting("DATABASE_NAME") };
  const prefix = getSetting("SECRETS_PREFIX");
  const mark = await findDeployment(`${prefix}database/maintenance`, findSetting("DATABASE_RESTORED_FROM"));
  await withLogin({ ...address, ...admin }, async (sql) => {
    await requireLogSettings(sql);
    await mark.requireSchema(sql);
    const ran = await migrate(sql);
    log.info("the schema is up to date", { ran });
    await mark.holdRestored(sql);
    await limitConnections(sql, limits);
    await ensureRoleLogins(sql, prefix);
  });
  await mark.record();
};
