import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { types } from "#lib/db/credentials.ts";
import { connect } from "#lib/db/pool.ts";
import { readRunMs } from "../processor.ts";
import type { Task } from "./database.ts";
import { groups, type Measurable } from "./groups.ts";
import { type Effort, measureCase, type Row } from "./measure.ts";
import { partsOf } from "./sizes.ts";

/*
 * A process of its own for each group: it has the environment, and so the role, of the product's process that runs these
 * statements.
 */

/** Of all that asks the database in this process, but not of what prepares the data. */
const openClockOf = (owner: postgres.Sql) => async () => {
  const backends = await owner<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  return () => backends.reduce((sum, { pid }) => sum + readRunMs(pid), 0);
};

const measure = async (one: Measurable, effort: Effort): Promise<readonly Row[]> => {
  const measured = typeof one === "function" ? await one(effort) : await measureCase(one, effort);
  const rows = Array.isArray(measured) ? (measured as readonly Row[]) : [measured as Row];
  for (const row of rows) {
    const { statement, "p50 ms": p50, "p99 ms": p99, "CPU p50 ms": cpu } = row;
    console.error(`  ${statement}: ${p50} / ${p99} ms, processor ${cpu} ms`);
  }
  return rows;
};

process.once("message", async ({ group, sizes, samples }: Task) => {
  const owner = postgres(getSetting("DATABASE_URL"), {
    max: 1,
    fetch_types: false,
    types,
    onnotice: () => {},
  });
  // as the messenger opens them: with the role's settings, and prepared statements
  const sql = await connect(1);
  const consoleSql = await connect(1, undefined, undefined, "console");
  const rows: Row[] = [];
  const open = groups[group]?.open;
  if (!open) throw new Error(`there is no group ${group}`);
  for await (const one of open({ owner, sql, consoleSql, sizes, parts: partsOf(sizes) }))
    rows.push(...(await measure(one, { samples, openClock: openClockOf(owner) })));
  process.send?.(rows, () => process.exit());
});
