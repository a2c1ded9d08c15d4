import type postgres from "postgres";
import { findSetting } from "#lib/config.ts";
import { inventedRegion } from "../local/seed/resident-rows.ts";
import { storeSeed } from "../local/seed/seed.ts";
import { CommandError, command, rejectExtra, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";

const usage = `Usage: npm run seed -- --residents N

Stores N invented residents and a small set of tourism data. The data is deterministic: a larger N adds residents.`;

/** Prevents invented residents from being mixed with real ones. */
const requireNoRealData = async (sql: postgres.Sql) => {
  if (!findSetting("DATABASE_URL") && !findSetting("DATABASE_SECRET_ID")) return;
  const [real] =
    await sql`select from resident.resident where not starts_with(nik, ${inventedRegion}) limit 1`;
  if (real) throw new CommandError("This database contains real residents and is not seeded.");
};

export const run = command(
  usage,
  { residents: { type: "string" } } as const,
  async ({ values, positionals }) => {
    rejectExtra(positionals);
    const residents = Number(values.residents);
    if (!/^\d{1,9}$/.test(values.residents ?? ""))
      throw new CommandError(`--residents must be a whole number, not ${values.residents ?? "empty"}`);
    await withConnection("importer", async (sql) => {
      await requireNoRealData(sql);
      const progress = startProgress(residents);
      await storeSeed(sql, residents, (stored) => progress.update(stored, `${stored} residents`)).finally(
        () => progress.stop(),
      );
    });
    console.log(`${residents} invented residents stored`);
  },
);

if (import.meta.main) await runCommand(run);
