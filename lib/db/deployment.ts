import type postgres from "postgres";
import { findTag, setTag } from "#lib/secrets/tag.ts";

const tag = "municipal:schema-since";

/**
 * Reads whether a stage has had a schema, from the tag of a secret that outlives its database.
 *
 * @param secretId name of the secret.
 */
export const findDeployment = async (secretId: string) => {
  const since = await findTag(secretId, tag);
  return {
    /** @throws Error for an empty database of a stage that had another one, whose data would seem to be lost. */
    async requireSchema(sql: postgres.Sql): Promise<void> {
      const [schema] = await sql`select from pg_namespace where nspname = 'migration'`;
      if (!schema && since)
        throw new Error(
          `the database is empty, but this stage has had data since ${since}: see "The database is empty" in infra/RUNBOOK.md`,
        );
    },
    /** Records that the stage has a schema. */
    async record(): Promise<void> {
      if (!since) await setTag(secretId, tag, new Date().toISOString());
    },
  };
};
