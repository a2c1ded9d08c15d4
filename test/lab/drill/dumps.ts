import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { migrate } from "#lib/db/migrate.ts";
import { localSecretName, readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { openSuperuser, type Scene } from "../chaos/scene.ts";
import { runOnDatabase } from "./checks.ts";
import { compareFacts, type Facts, readFacts } from "./facts.ts";
import type { Take } from "./report.ts";

interface Dumping {
  readonly scene: Scene;
  readonly take: Take;
  /** Of the server whose database is dumped. */
  readonly port: number;
  /** Gets the dump. */
  readonly folder: string;
}

const majorOf = (text: string): number => Number(/\d+/.exec(text)?.[0] ?? 0);

/** Returns why no dump can be made, or undefined. */
export const explainMissingDump = async (sql: postgres.Sql): Promise<string | undefined> => {
  const [row] = await sql<{ server: string }[]>`select current_setting('server_version') as server`;
  const server = majorOf(row?.server ?? "");
  const installed = await promisify(execFile)("pg_dump", ["--version"]).then(
    ({ stdout }) => majorOf(stdout),
    () => undefined,
  );
  if (installed === undefined) return "pg_dump is not on the PATH: no dumps were made.";
  if (installed >= server) return undefined;
  return `pg_dump ${installed} is older than the server, ${server}: no dumps were made.`;
};

/** Of the database itself, which pg_restore creates only with --create. */
const isOfDatabase = (line: string) => /^(database|setting) /.test(line);
/** What a dump has. PostgreSQL prints a condition that it has read again with fewer parentheses. */
const dumpable = ({ schema, ...rest }: Facts): Facts => ({
  ...rest,
  schema: schema.filter((line) => !isOfDatabase(line)).map((line) => line.replaceAll(/[()]/g, "")),
});

/** Deletes what the migrations have inserted, so that the data of another database can be copied. */
export const empty = async (sql: postgres.Sql): Promise<void> => {
  const { counts } = await readFacts(sql);
  await sql`set session_replication_role = replica`;
  for (const [table, rows] of counts)
    if (rows > 0 && !table.startsWith("migration.")) await sql.unsafe(`delete from ${table}`);
};

/** Dumps a database with pg_dump, whole and its data alone, restores both, and compares them with the dumped one. */
export const dumpAndRestore = async ({ scene, take, port, folder }: Dumping): Promise<void> => {
  const { store } = scene;
  const url = (database: string) => {
    const { username, password } = readLocalSecret("database/admin", store);
    return `postgres://${username}:${password}@127.0.0.1:${port}/${database}`;
  };
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, {
      env: {
        ...{
          PGHOST: "127.0.0.1",
          PGPORT: String(port),
          PGUSER: "postgres",
          PATH: "/usr/local/bin:/usr/bin:/bin",
        },
        PGPASSWORD: store.find(localSecretName("database/superuser"))?.value ?? "",
      },
    });
  const within = async <T>(database: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
    const sql = openSuperuser(store, port, database);
    return work(sql).finally(() => sql.end());
  };
  const create = (database: string) =>
    within("municipal", (sql) => sql.unsafe(`create database ${database} owner municipal_admin`));
  const compare = async (database: string) => {
    const dumped = dumpable(await within("municipal", readFacts));
    const restored = dumpable(await within(database, readFacts));
    return compareFacts(dumped, restored);
  };
  const file = join(folder, "municipal.dump");

  await take("dump, restore the dump", async () => {
    await run("pg_dump", "--format=custom", `--file=${file}`, "municipal");
    await create("from_dump");
    await run("pg_restore", "--exit-on-error", "--dbname=from_dump", file);
    return { seen: "schema, privileges and rows", wrongs: await compare("from_dump") };
  });
  await take("restore the data alone, on a new schema", async () => {
    await create("from_data");
    const admin = postgres(url("from_data"), { max: 1, fetch_types: false, onnotice: () => {} });
    await migrate(admin).finally(() => admin.end());
    await within("from_data", empty);
    const only = ["--data-only", "--disable-triggers", "--exclude-schema=migration"];
    await run("pg_restore", "--exit-on-error", ...only, "--dbname=from_data", file);
    // pg_restore leaves the triggers so that a replication could bypass them
    const rebuilt = await runOnDatabase(scene, "from_data", "residents", "rebuild");
    const verified = await runOnDatabase(scene, "from_data", "residents", "verify");
    const audit = await runOnDatabase(scene, "from_data", "audit", "verify");
    return {
      seen: "rows; then npm run city -- residents rebuild",
      wrongs: [rebuilt, verified, audit]
        .flatMap(({ wrongs = [] }) => wrongs)
        .concat(await compare("from_data")),
    };
  });
};
