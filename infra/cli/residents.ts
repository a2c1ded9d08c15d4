import type postgres from "postgres";
import {
  listBypassableTriggers,
  type Miscount,
  recountBlocks,
  recountProfiles,
} from "#lib/resident/recount.ts";
import { profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
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
      stale_profiles::int as stale, frequent_terms::int as terms, profile_bytes::float8 as bytes
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
Search profiles: ${blocks - stale} of ${blocks} ready (${Math.ceil(bytes / 2 ** 20)} MB, ${terms} frequent strings of 3 or more letters)
${advise(status)}`;
  return { text, json: { ...status, advice: advise(status) } };
};

const verifiedProfiles = 50;

const describe = ({ blockId, of, counted, found }: Miscount) =>
  of === "rows"
    ? `Block ${blockId}: the stored count is ${counted}, but it has ${found} rows.`
    : `Block ${blockId}: ${found} of ${counted} strings in its search profile are correct.`;

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
  const wrong = [...(await recountBlocks(sql)), ...(await recountProfiles(sql, verifiedProfiles))];
  const problems = [...wrong.map(describe), ...(await findRisks(sql))];
  if (problems.length > 0)
    throw new CommandError(`${problems.join("\n")}\nRun: ${cityCommand("residents", "rebuild")}`);
  return { text: "All counts are correct. Nothing to do.", json: { problems } };
};

const rebuild = async (sql: postgres.Sql): Promise<Reply> => {
  await sql`select resident.restore_triggers()`;
  await sql`select resident.refresh_names()`;
  await sql`select resident.rebuild_blocks()`;
  console.error("Counts rebuilt. Rebuilding search profiles.");
  await refreshVocabulary(sql);
  const { stale } = await readStatus(sql);
  const progress = startProgress(stale);
  let done = 0;
  let made: number;
  do {
    made = await profileBlocks(sql);
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
  "Show, verify and rebuild the counts and search profiles of residents.",
  (program, answer) => {
    program
      .command("status")
      .description(
        "show the number of residents, blocks, pending changes and search profiles, and what to do",
      )
      .action(answer(onDatabase(showStatus)));
    program
      .command("verify")
      .description(
        "recount every block and a sample of search profiles, and check that triggers are ENABLE ALWAYS and that " +
          "stored search forms of names match this server's ICU; exit code 1 if something is wrong",
      )
      .action(answer(onDatabase(verify)));
    program
      .command("rebuild")
      .description("correct what verify finds; blocks writers during the recount, not readers")
      .action(answer(onDatabase(rebuild)));
  },
);
