import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import postgres from "postgres";
import { migrate } from "#lib/db/migrate.ts";
import { setPassword } from "#lib/db/password.ts";
import { Batch } from "#lib/import/batch.ts";
import { destroyServer, startServer } from "../../../infra/local/postgres/server.ts";
import { inventResident } from "../../../infra/local/seed/resident-rows.ts";

export interface ResidentDatabase {
  /** One or more connections of a role with all privileges on residents. */
  connect(max?: number): postgres.Sql;
  connectAsImporter(): postgres.Sql;
}

const password = "bench";

/**
 * As a server of 16 GB is set: a quarter of it for the cache, and write-ahead log in proportion.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
export const serverSettings = { shared_buffers: "4GB", effective_cache_size: "12GB", max_wal_size: "8GB" };

/** The partner `p`, which may read any number, and whose key `k` has every field and the purpose BENCH. */
const addAgreement = async (sql: postgres.Sql) => {
  await sql`
    insert into partner.partner (id, plan, usage_identifier, residents_per_day, look_ups_per_minute)
    values ('p', 'bench', 'bench', null, null)`;
  await sql`
    insert into partner.api_key (id, partner_id, digest, scopes, purposes, fields)
    values ('k', 'p', sha256('k'), '{resident:read}', '{BENCH}', '{nik_alt, nama, nama_ibu_alt, no_kk_alt, alamat_alt,
      t_dusun_lingkungan, t_desakel, t_kec, t_kabkota, created_at}')`;
};

/** Runs work with a durable database without residents, which is removed afterwards, also when the work fails. */
export const withResidentDatabase = async <T>(
  work: (database: ResidentDatabase) => Promise<T>,
): Promise<T> => {
  const folder = join(mkdtempSync(join(tmpdir(), "bench-")), "postgres");
  const interrupt = () => {};
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const connections: postgres.Sql[] = [];
  try {
    const { port } = await startServer({
      folder,
      durable: true,
      superuserPassword: password,
      settings: serverSettings,
    });
    const connect = (username: string, max = 1) => {
      const sql = postgres({
        ...{ host: "127.0.0.1", port, username, password, database: "postgres", max, fetch_types: false },
        types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
        onnotice: () => {},
      });
      connections.push(sql);
      return sql;
    };
    const sql = connect("postgres");
    await migrate(sql);
    await setPassword(sql, "municipal_importer", password);
    await addAgreement(sql);
    return await work({
      connect: (max) => connect("postgres", max),
      connectAsImporter: () => connect("municipal_importer"),
    });
  } finally {
    await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
    await destroyServer(folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  }
};

export const residentColumns =
  "nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at";

const rowsPerChunk = 5_000;

/** Invented residents in COPY's text format. */
function* inventText(rows: number): Generator<Buffer> {
  for (let from = 1; from <= rows; from += rowsPerChunk) {
    const length = Math.min(rowsPerChunk, rows - from + 1);
    yield* Batch.of(Array.from({ length }, (_, i) => inventResident(from + i))).text;
  }
}

const copyText = async (sql: postgres.Sql, table: string, text: Iterable<Buffer>) =>
  pipeline(Readable.from(text), await sql.unsafe(`copy ${table} (${residentColumns}) from stdin`).writable());

/** COPY of a file of residents as it is. */
export const copyCsv = async (sql: postgres.Sql, table: string, csv: Readable) =>
  pipeline(
    csv,
    await sql.unsafe(`copy ${table} (${residentColumns}) from stdin (format csv, header true)`).writable(),
  );

/** Fills the empty table as a restore would: indexes and counts are made when the rows are there. */
export const fillResidents = async (sql: postgres.Sql, rows: number, onStep: (step: string) => void) => {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = 'resident.resident'::regclass and not indisunique`;
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`);
  onStep(`${rows} residents`);
  await copyText(sql, "resident.resident", inventText(rows));
  await sql`set maintenance_work_mem = '512MB'`;
  for (const { name, definition } of indexes) {
    onStep(`index ${name}`);
    await sql.unsafe(definition);
  }
  onStep("blocks");
  await sql`select resident.rebuild_blocks()`;
  onStep("vacuum");
  await sql`vacuum (analyze) resident.resident`;
  // else its writes go on for minutes, and commits wait for them
  await sql`checkpoint`;
};
