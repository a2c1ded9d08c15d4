import type postgres from "postgres";
import {
  foldChanges,
  foldedAtOnce,
  mergeTrigrams,
  profileBlocks,
  refreshVocabulary,
  splitBlock,
} from "#lib/resident/upkeep.ts";
import { listBypassableTriggers, recountBlocks, recountProfiles } from "#lib/resident/verify.ts";
import type { Step } from "./step.ts";

/** Blocks that each run recounts: some 20 ms, so that 10 million residents are all recounted within a day. */
const recountedBlocks = 4;

/** Throws, so that the alarm of failed runs goes off: a count that is wrong stays so until it is rebuilt. */
const recount = async (sql: postgres.Sql) => {
  const triggers = await listBypassableTriggers(sql);
  if (triggers.length > 0)
    throw new Error(
      `triggers are not ENABLE ALWAYS: ${triggers.join(", ")}; run: npm run residents -- rebuild`,
    );
  const wrong = [...(await recountBlocks(sql, recountedBlocks)), ...(await recountProfiles(sql, 1))];
  if (wrong.length > 0)
    throw new Error(
      `residents are counted wrongly in ${JSON.stringify(wrong)}; «npm run residents -- verify», then rebuild`,
    );
  return { rows: recountedBlocks, more: false };
};

const changes: Step = {
  name: "resident-changes",
  async work(sql) {
    const rows = await foldChanges(sql);
    return { rows, more: rows === foldedAtOnce };
  },
};

/** Does what a function counts pieces of, for as long as there are any. */
const whileAny = (name: string, work: (sql: postgres.Sql) => Promise<number>): Step => ({
  name,
  async work(sql) {
    const rows = await work(sql);
    return { rows, more: rows > 0 };
  },
});

const vocabulary: Step = {
  name: "resident-vocabulary",
  work: async (sql) => ({ rows: (await refreshVocabulary(sql)) ?? 0, more: false }),
};

/** Keeps counts and profiles of residents; before the recount, so that it meets what they left. */
export const residentSteps: readonly Step[] = [
  changes,
  whileAny("resident-blocks", splitBlock),
  { name: "resident-trigrams", work: async (sql) => ({ rows: await mergeTrigrams(sql), more: false }) },
  vocabulary,
  whileAny("resident-profiles", profileBlocks),
  { name: "resident-recount", work: recount },
];
