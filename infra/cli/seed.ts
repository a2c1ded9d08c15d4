import type postgres from "postgres";
import { inventedRegion } from "../local/seed/resident-rows.ts";
import { storeSeed } from "../local/seed/seed.ts";
import { CommandError, readWhole } from "./command.ts";
import { startProgress } from "./output.ts";
import { isLocal, noun, withConnection } from "./stage.ts";

/** Prevents invented residents from being mixed with real ones. */
const requireNoRealData = async (sql: postgres.Sql) => {
  if (isLocal()) return;
  const [real] =
    await sql`select from resident.resident where not starts_with(nik, ${inventedRegion}) limit 1`;
  if (real) throw new CommandError("This database contains real residents and is not seeded.");
};

export const run = noun(
  "seed",
  "Store invented residents and a small set of tourism data. The data is deterministic: a larger number adds residents.",
  (program, answer) => {
    program
      .requiredOption("--residents <number>", "number of residents", readWhole("--residents", 0, 999_999_999))
      .action(
        answer(async ({ residents }) => {
          await withConnection("importer", async (sql) => {
            await requireNoRealData(sql);
            const progress = startProgress(residents);
            await storeSeed(sql, residents, (stored) =>
              progress.update(stored, `${stored} residents`),
            ).finally(() => progress.stop());
          });
          return { text: `${residents} invented residents stored`, json: { residents } };
        }),
      );
  },
);
