import { fileURLToPath } from "node:url";
import Postgrator from "postgrator";
import type postgres from "postgres";

const ourFolder = fileURLToPath(new URL("./migrations/", import.meta.url));

/** Advisory lock that allows one migration at a time. */
const lockKey = 7_206_301;

const escapeGlob = (path: string) => path.replace(/[[\]{}()*?!+@]/g, "\\$&");

/**
 * Migrates the schema to the newest version, in one transaction.
 *
 * @param sql connection of a role that can create roles and schemas.
 * @param folder with a trailing slash; files are named `NNNN.do.<subject>.sql`.
 * @returns names of the migrations that ran.
 * @throws Error when a migration fails, or when one that has run was edited since.
 */
export const migrate = (sql: postgres.Sql, folder = ourFolder): Promise<string[]> =>
  sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${lockKey})`;
    const postgrator = new Postgrator({
      driver: "pg",
      migrationPattern: `${escapeGlob(folder)}*.sql`,
      schemaTable: "migration.version",
      execQuery: async (query) => ({ rows: [...(await transaction.unsafe(query).simple())] }),
    });
    const ran = await postgrator.migrate();
    if ((await postgrator.getDatabaseVersion()) < 1) throw new Error(`no migrations found in ${folder}`);
    return ran.map(({ version, name }) => `${version} ${name}`);
  }) as Promise<string[]>;
