import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { listBypassableTriggers, recountBlocks, recountSubstrings } from "#lib/resident/recount.ts";
import {
  applyBatchSize,
  applyChanges,
  countChanges,
  countSubstrings,
  mergeTrigrams,
  refreshFrequentSubstrings,
  splitBlock,
} from "#lib/resident/upkeep.ts";
import { type Step, untilDone } from "./step.ts";

/** Blocks recounted per run, in about 20 ms; covers 10 million residents within a day. */
const recountedBlocks = 4;

/** Throws if a count is wrong, to raise the alarm for failed runs: a wrong count persists until it is rebuilt. */
const recount = async (sql: postgres.Sql) => {
  const triggers = await listBypassableTriggers(sql);
  if (triggers.length > 0)
    throw new Error(
      `triggers are not ENABLE ALWAYS: ${triggers.join(", ")}; run: npm run city -- residents rebuild`,
    );
  const wrong = [...(await recountBlocks(sql, recountedBlocks)), ...(await recountSubstrings(sql, 1))];
  if (wrong.length > 0)
    throw new Error(
      `wrong resident counts: ${JSON.stringify(wrong)}; run npm run city -- residents verify, then rebuild`,
    );
  return { rows: recountedBlocks, more: false };
};

/** Logs the number of pending changes for the alarm: every read adds them up. */
const waiting: Step = {
  name: "resident-waiting",
  async work(sql) {
    const rows = await countChanges(sql);
    log.info("maintenance metrics", { pending_changes: rows });
    return { rows, more: false };
  },
};

const changes: Step = {
  name: "resident-changes",
  async work(sql) {
    const rows = await applyChanges(sql);
    return { rows, more: rows === applyBatchSize };
  },
};

const frequentSubstrings: Step = {
  name: "resident-frequent-substrings",
  work: async (sql) => ({ rows: (await refreshFrequentSubstrings(sql)) ?? 0, more: false }),
};

/** Maintains the counts of residents, and of substrings of their names. The recount comes last, to check the other steps. */
export const residentSteps: readonly Step[] = [
  waiting,
  changes,
  untilDone("resident-blocks", splitBlock),
  { name: "resident-trigrams", work: async (sql) => ({ rows: await mergeTrigrams(sql), more: false }) },
  frequentSubstrings,
  untilDone("resident-substring-counts", countSubstrings),
  { name: "resident-recount", work: recount },
];
