import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { types } from "#lib/db/credentials.ts";
import { connect } from "#lib/db/pool.ts";
import type { Task } from "./database.ts";
import { groups, type Measurable } from "./groups.ts";
import { measureCase, type Row } from "./measure.ts";
import { partsOf } from "./sizes.ts";

/*
 * A process of its own for each group: it has the environment, and so the role, of the product's process that runs these
 * statements.
 */

const measure = async (one: Measurable, samples: number): Promise<readonly Row[]> => {
  const measured = typeof one === "function" ? await one(samples) : await measureCase(one, samples);
  const rows = Array.isArray(measured) ? (measured as readonly Row[]) : [measured as Row];
  for (const row of rows) console.error(`  ${row.statement}: ${row["p50 ms"]} / ${row["p99 ms"]} ms`);
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
  const rows: Row[] = [];
  const open = groups[group]?.open;
  if (!open) throw new Error(`there is no group ${group}`);
  for await (const one of open({ owner, sql, sizes, parts: partsOf(sizes) }))
    rows.push(...(await measure(one, samples)));
  process.send?.(rows, () => process.exit());
});
