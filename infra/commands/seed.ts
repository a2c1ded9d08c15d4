import { parseArgs } from "node:util";
import type postgres from "postgres";
import { findSetting } from "#lib/config.ts";
import { inventedRegion } from "../local/seed/resident-rows.ts";
import { storeSeed } from "../local/seed/seed.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";

const usage = `Usage: npm run seed -- --residents N

Stores N invented residents, and a little tourism. They are the same every time: a larger N adds to them.`;

/** Invented people among real ones could not be told apart again by anyone who looks. */
const refuseRealData = async (sql: postgres.Sql) => {
  if (!findSetting("DATABASE_URL") && !findSetting("DATABASE_SECRET_ID")) return;
  const [real] =
    await sql`select from resident.resident where not starts_with(nik, ${inventedRegion}) limit 1`;
  if (real) throw new CommandError("This database holds residents who are not invented; it is not seeded");
};

export const run = command(usage, async (args) => {
  const { values } = parseArgs({ args, options: { residents: { type: "string" } } });
  const residents = Number(values.residents);
  if (!/^\d{1,9}$/.test(values.residents ?? ""))
    throw new CommandError(`--residents must be a whole number, not ${values.residents ?? "absent"}`);
  await withConnection("importer", async (sql) => {
    await refuseRealData(sql);
    const progress = startProgress(residents);
    await storeSeed(sql, residents, (stored) => progress.update(stored, `${stored} residents`)).finally(() =>
      progress.stop(),
    );
  });
  console.log(`${residents} invented residents are stored`);
  return 0;
});

if (import.meta.main) await runCommand(run);
