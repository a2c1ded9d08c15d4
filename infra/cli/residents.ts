import type postgres from "postgres";
import {
  listBypassableTriggers,
  type Miscount,
  recountBlocks,
  recountSubstrings,
} from "#lib/resident/recount.ts";
import { countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";
import { CommandError, type Reply } from "./command.ts";
import { startProgress } from "./output.ts";
import { cityCommand, noun, withConnection } from "./stage.ts";

interface Status {
  residents: number;
  blocks: number;
  biggest: number;
  pending: number;
  stale: number;
  terms: number;
  bytes: number;
}

const readStatus = async (sql: postgres.Sql): Promise<Status> => {
  const [status] = await sql<Status[]>`
    select residents::float8, blocks::int, biggest_block as biggest, pending_changes::int as pending,
      uncounted_blocks::int as stale, frequent_substrings::int as terms, substring_bytes::float8 as bytes
    from resident.read_status()`;
  if (!status) throw new Error("resident.read_status() returned no row");
  return status;
};

/** Says whether something is to be done, and what. */
const advise = ({ residents, pending, stale }: Status): string => {
  if (residents === 0)
    return `There are no residents. Import them: ${cityCommand("import", "residents", "FILE.csv")}`;
  if (pending + stale === 0) return "Nothing to do.";
  return (
    "Nothing to do: the next maintenance run, within five minutes, continues. If these numbers do not fall within an " +
    `hour, run: ${cityCommand("residents", "rebuild")}`
  );
};

const showStatus = async (sql: postgres.Sql): Promise<Reply> => {
  const status = await readStatus(sql);
  const { residents, blocks, biggest, pending, stale, terms, bytes } = status;
  const text = `Residents: ${residents} in ${blocks} blocks of at most ${biggest}
Pending changes: ${pending}
Substring counts: ${blocks - stale} of ${blocks} ready (${Math.ceil(bytes / 2 ** 20)} MB, ${terms} frequent strings of 3 or more letters)
${advise(status)}`;
  return { text, json: { ...status, advice: advise(status) } };
};

const verifiedBlocks = 50;

const describe = ({ blockId, of, counted, found }: Miscount) =>
  of === "rows"
    ? `Block ${blockId}: the stored count is ${counted}, but it has ${found} rows.`
    : `Block ${blockId}: ${found} of ${counted} substring counts are correct.`;

/** Finds what makes later counts or searches wrong, though every count is correct now. */
const findRisks = async (sql: postgres.Sql): Promise<string[]> => {
  const triggers = await listBypassableTriggers(sql);
  const [row] = await sql<{ names: number }[]>`select resident.count_outdated_names()::float8 as names`;
  const names = row?.names ?? 0;
  return [
    ...triggers.map((name) => `Trigger ${name} is not ENABLE ALWAYS.`),
    ...(names > 0 ? [`Searches miss ${names} names: another version of ICU folded them.`] : []),
  ];
};

const verify = async (sql: postgres.Sql): Promise<Reply> => {
  const wrong = [...(await recountBlocks(sql)), ...(await recountSubstrings(sql, verifiedBlocks))];
  const problems = [...wrong.map(describe), ...(await findRisks(sql))];
  if (problems.length > 0)
    throw new CommandError(`${problems.join("\n")}\nRun: ${cityCommand("residents", "rebuild")}`);
  return { text: "All counts are correct. Nothing to do.", json: { problems } };
};

const rebuild = async (sql: postgres.Sql): Promise<Reply> => {
  await sql`select resident.restore_triggers()`;
  await sql`select resident.refresh_names()`;
  await sql`select resident.rebuild_blocks()`;
  console.error("Counts rebuilt. Counting the substrings of names.");
  await refreshFrequentSubstrings(sql);
  const { stale } = await readStatus(sql);
  const progress = startProgress(stale);
  let done = 0;
  let made: number;
  do {
    made = await countSubstrings(sql);
    done += made;
    progress.update(done, `${done} blocks`);
  } while (made > 0);
  progress.stop();
  return showStatus(sql);
};

const onDatabase = (work: (sql: postgres.Sql) => Promise<Reply>) => () =>
  withConnection("maintenance", async (sql) => {
    // on a slow machine, counting ten million residents exceeds the role's limit of 20 s
    await sql`set statement_timeout = 0`;
    return work(sql);
  });

export const run = noun(
  "residents",
  "Show, verify and rebuild the counts of residents, and those of substrings of their names.",
  (program, answer) => {
    program
      .command("status")
      .description(
        "show the number of residents, blocks, pending changes and substring counts, and what to do",
      )
      .action(answer(onDatabase(showStatus)));
    program
      .command("verify")
      .description(
        "recount every block and a sample of substring counts, and check that triggers are ENABLE ALWAYS and that " +
          "stored search forms of names match this server's ICU; exit code 1 if something is wrong",
      )
      .action(answer(onDatabase(verify)));
    program
      .command("rebuild")
      .description("correct what verify finds; blocks writers during the recount, not readers")
      .action(answer(onDatabase(rebuild)));
  },
);
