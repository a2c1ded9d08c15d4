import type { Context } from "aws-lambda";
import { findSetting, getSetting } from "#lib/config.ts";
import { finishByHand, readAdmin } from "#lib/db/credentials.ts";
import { findDeployment, requireLogSettings } from "#lib/db/deployment.ts";
import { migrate } from "#lib/db/migrate.ts";
import { withLogin } from "#lib/db/password.ts";
import { ensureRoleLogins } from "#lib/db/role-login.ts";
import { ConnectionLimits, limitConnections } from "#lib/db/roles.ts";
import { log } from "#lib/log.ts";

/** For what follows the migration, and for the error of one that takes too long. */
const restMs = 30_000;

/**
 * Runs during a deployment, before any other function: migrates the schema, and sets each role's password from its
 * secret and its share of the server's connections. An error fails the deployment.
 */
export const handler = async (_event: unknown, context: Context): Promise<void> => {
  const admin = await readAdmin();
  const limits = ConnectionLimits.parse(JSON.parse(findSetting("CONNECTION_LIMITS") ?? "{}"));
  const prefix = getSetting("SECRETS_PREFIX");
  const mark = await findDeployment(`${prefix}database/maintenance`, findSetting("DATABASE_RESTORED_FROM"));
  await withLogin(admin, async (sql) => {
    await requireLogSettings(sql);
    await mark.requireSchema(sql);
    const stage = prefix.split("/")[1] ?? "";
    const whatToDo = finishByHand(admin, stage);
    const limit = { ms: context.getRemainingTimeInMillis() - restMs, whatToDo };
    const onFile = (file: string) => log.info("a migration begins", { file });
    const ran = await migrate(sql, { limit, timeZone: findSetting("TIME_ZONE"), onFile });
    log.info("the schema is up to date", { ran });
    await mark.holdRestored(sql);
    await limitConnections(sql, limits);
    await ensureRoleLogins(sql, prefix);
  });
  await mark.record();
};
