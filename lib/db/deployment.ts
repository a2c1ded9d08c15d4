import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { findTag, setTag } from "#lib/secrets/secret-version.ts";

const tag = "municipal:schema-since";

const whatToDo = "see /docs/runbook#the-database-is-empty";

/**
 * Reads whether a stage has had a schema, from the tag of a secret that outlives its database.
 *
 * @param secretId name of the secret.
 * @param backup from which the database was restored, if it was.
 */
export const findDeployment = async (secretId: string, backup: string | undefined) => {
  const since = await findTag(secretId, tag);
  return {
    /** @throws Error for an empty database of a stage that had another one, or a backup: its data would seem to be lost. */
    async requireSchema(sql: postgres.Sql): Promise<void> {
      const [schema] = await sql`select from pg_namespace where nspname = 'migration'`;
      if (schema) return;
      if (since)
        throw new Error(`the database is empty, but this stage has had data since ${since}: ${whatToDo}`);
      if (backup) throw new Error(`the database is empty, but was restored from ${backup}: ${whatToDo}`);
    },
    /** Holds the messages of a restored database until an operator resumes sending. */
    async holdRestored(sql: postgres.Sql): Promise<void> {
      if (!backup) return;
      const [row] = await sql<{ held: boolean; seal: string }[]>`
        select messaging.hold_restored(${backup}) as held, (select coalesce(max(id), 0)::text from audit.seal) as seal`;
      // the audit is verified with it: later seals, whose anchors exist, were lost
      if (row?.held)
        log.warn("the database was restored: sending is paused", { backup, last_seal: row.seal });
    },
    /** Records that the stage has a schema. */
    async record(): Promise<void> {
      if (!since) await setTag(secretId, tag, new Date().toISOString());
    },
  };
};

/** Settings of a server that keep rows and parameters, which are personal data, out of its log. */
export const logSettings = {
  log_error_verbosity: "terse", // no DETAIL, such as "Failing row contains (…)"
  log_min_error_statement: "panic",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
};

/** @throws Error that names the settings of the server that are different. */
export const requireLogSettings = async (sql: postgres.Sql): Promise<void> => {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name in ${sql(Object.keys(logSettings))}`;
  const current = new Map(rows.map(({ name, setting }) => [name, setting]));
  const wrong = Object.entries(logSettings).filter(([name, value]) => current.get(name) !== value);
  if (wrong.length > 0)
    throw new Error(
      `The database server writes personal data to its log. Set there: ${wrong.map((pair) => pair.join(" = ")).join(", ")}`,
    );
};
