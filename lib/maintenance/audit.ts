import type postgres from "postgres";
import { log } from "#lib/log.ts";
import type { Step } from "./step.ts";

/** Rows of a seal: hashed within a tenth of a second. */
const mostRows = 10_000;
/** Fewer wait for more, but not longer than ten minutes. */
const leastRows = 1_000;

/**
 * Seals the reads of residents that are not sealed yet. The digest goes to the log, too, where nobody who could
 * change the database can change it.
 *
 * @param least rows for which it is worth a seal.
 */
export const sealReads = async (sql: postgres.Sql, least = leastRows) => {
  const [settled] = await sql<{ id: string }[]>`select audit.find_settled_id()::text as id`;
  const [seal] = await sql<{ id: string; rows: number; digest: string }[]>`
    select id::text, row_count as rows, digest
    from audit.seal_reads(${settled?.id ?? "0"}::bigint, ${mostRows}, ${least})`;
  if (seal) log.info("audit sealed", { seal: seal.id, rows: seal.rows, digest: seal.digest });
  const rows = seal?.rows ?? 0;
  return { rows, more: rows === mostRows };
};

export const auditSteps: readonly Step[] = [
  {
    name: "audit-partitions",
    async work(sql) {
      const [row] = await sql<{ made: number }[]>`select audit.extend_partitions() as made`;
      return { rows: row?.made ?? 0, more: false };
    },
  },
  { name: "audit-seals", work: (sql) => sealReads(sql) },
  {
    name: "audit-expiry",
    async work(sql) {
      const [row] = await sql<{ rows: number }[]>`select audit.expire_reads() as rows`;
      const rows = row?.rows ?? 0;
      return { rows, more: rows > 0 };
    },
  },
];
