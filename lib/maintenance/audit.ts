import type postgres from "postgres";
import { type Anchor, storeAnchor } from "./anchor.ts";
import type { Step } from "./step.ts";

/** Maximum rows per seal: hashed within 0.1 s. */
const maxRows = 10_000;
/** Minimum rows per seal, unless the oldest row is more than ten minutes old. */
const minRows = 1_000;
/** Anchors per batch: below 20 s, even if S3 needs 3 s for each. */
const maxAnchors = 6;

/** How long rows are kept: `audit.age_limit()` of the database. */
export const auditYears = 5;

/**
 * Seals reads of residents that are not sealed yet.
 *
 * @param minimum rows for a seal.
 */
export const sealReads = async (sql: postgres.Sql, minimum = minRows) => {
  const [settled] = await sql<{ id: string }[]>`select audit.find_settled_id()::text as id`;
  const [seal] = await sql<{ rows: number }[]>`
    select row_count as rows from audit.seal_reads(${settled?.id ?? "0"}::bigint, ${maxRows}, ${minimum})`;
  const rows = seal?.rows ?? 0;
  return { rows, more: rows === maxRows };
};

/**
 * Stores the anchors of seals that have none yet where somebody who can change the database cannot change them. One that
 * cannot be stored is stored by a later run, and those after it.
 */
export const anchorSeals = async (sql: postgres.Sql) => {
  const anchors = await sql<
    Anchor[]
  >`select id::text as seal, digest from audit.list_unanchored(${maxAnchors})`;
  for (const anchor of anchors) {
    await storeAnchor(anchor);
    await sql`select audit.record_anchor(${anchor.seal})`;
  }
  return { rows: anchors.length, more: anchors.length === maxAnchors };
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
  { name: "audit-anchors", work: anchorSeals },
  {
    name: "audit-expiry",
    async work(sql) {
      const [row] = await sql<{ rows: number }[]>`select audit.expire_reads() as rows`;
      const rows = row?.rows ?? 0;
      return { rows, more: rows > 0 };
    },
  },
];
