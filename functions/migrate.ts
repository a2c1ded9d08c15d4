import type postgres from "postgres";
import * as z from "zod/mini";
import { findSetting, getSetting } from "#lib/config.ts";
import { ConnectionLimits, limitConnections } from "#lib/db/connection-limits.ts";
import { requireLogSettings } from "#lib/db/log-settings.ts";
import { migrate } from "#lib/db/migrate.ts";
import { withLogin } from "#lib/db/password.ts";
import { ensureRoleLogin } from "#lib/db/role-login.ts";
import { loginRoles } from "#lib/db/roles.ts";
import { log } from "#lib/log.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { findTag, setTag } from "#lib/secrets/tag.ts";

/** The administrator's credentials; a secret managed by RDS has only these fields. */
const Admin = z.object({ username: z.string(), password: z.string() });

/** Tag of a secret that outlives the database: since when the stage has a schema. */
const deployedTag = "municipal:schema-since";

/** @throws Error for an empty database of a stage that had another one, whose data would seem to be lost. */
const requireSameDatabase = async (sql: postgres.Sql, deployedAt: string | undefined): Promise<void> => {
  const [schema] = await sql`select from pg_namespace where nspname = 'migration'`;
  if (!schema && deployedAt)
    throw new Error(
      `the database is empty, but this stage has had data since ${deployedAt}: see "The database is empty" in infra/RUNBOOK.md`,
    );
};

/**
 * Runs during a deployment, before any other function: migrates the schema, and sets each role's password from its
 * secret and its share of the server's connections. An error fails the deployment.
 */
export const handler = async (): Promise<void> => {
  const admin = await readSecret(getSetting("DATABASE_SECRET_ID"), Admin);
  const limits = ConnectionLimits.parse(JSON.parse(findSetting("CONNECTION_LIMITS") ?? "{}"));
  const address = {
    host: getSetting("DATABASE_HOST"),
    port: Number(getSetting("DATABASE_PORT")),
    dbname: getSetting("DATABASE_NAME"),
  };
  const prefix = getSetting("SECRETS_PREFIX");
  const marked = `${prefix}database/maintenance`;
  const deployedAt = await findTag(marked, deployedTag);
  await withLogin({ ...address, ...admin }, async (sql) => {
    await requireLogSettings(sql);
    await requireSameDatabase(sql, deployedAt);
    const ran = await migrate(sql);
    log.info("the schema is up to date", { ran });
    await limitConnections(sql, limits);
    for (const [name, role] of Object.entries(loginRoles)) {
      const isNew = await ensureRoleLogin(sql, role, `${prefix}database/${name}`);
      log.info("the role logs in", { role, isNew });
    }
  });
  if (!deployedAt) await setTag(marked, deployedTag, new Date().toISOString());
};
