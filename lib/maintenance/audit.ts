import type postgres from "postgres";
import { log } from "#lib/log.ts";
import type { Step } from "./step.ts";

/** Maximum rows per seal: hashed within 0.1 s. */
const maxRows = 10_000;
/** Minimum rows per seal, unless the oldest row is more than ten minutes old. */
const minRows = 1_000;

/**
 * Seals reads of residents that are not sealed yet. Also logs the digest, because the log cannot be changed by someone
 * with write access to the database.
 *
 * @param minimum rows for a seal.
 */
export const sealReads = async (sql: postgres.Sql, minimum = minRows) => {
  const [settled] = await sql<{ id: string }[]>`select audit.find_settled_id()::text as id`;
  const [seal] = await sql<{ id: string; rows: number; digest: string }[]>`
    select id::text, row_count as rows, digest
    from audit.seal_reads(${settled?.id ?? "0"}::bigint, ${maxRows}, ${minimum})`;
  if (seal) log.info("audit sealed", { seal: seal.id, rows: seal.rows, digest: seal.digest });
  const rows = seal?.rows ?? 0;
  return { rows, more: rows === maxRows };
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
