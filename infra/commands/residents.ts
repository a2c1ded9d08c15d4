import type postgres from "postgres";
import { profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
import {
  listBypassableTriggers,
  type Miscount,
  recountBlocks,
  recountProfiles,
} from "#lib/resident/verify.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";

const usage = `Usage: npm run residents -- status|verify|rebuild

  status    shows the number of residents, blocks, pending changes and search profiles
  verify    recounts every block and a sample of search profiles, and checks that triggers are ENABLE ALWAYS and that
            stored lower-case names match this server's ICU; exit code 1 if something is wrong
  rebuild   corrects all of that; blocks writers during the recount, not readers`;

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

const showStatus = async (sql: postgres.Sql) => {
  const { residents, blocks, biggest, pending, stale, terms, bytes } = await readStatus(sql);
  console.log(`Residents: ${residents} in ${blocks} blocks of at most ${biggest}
Changes to be folded: ${pending}
Search profiles: ${blocks - stale} of ${blocks} ready (${Math.ceil(bytes / 2 ** 20)} MB, ${terms} frequent strings of 3 or more letters)
${pending + stale === 0 ? "Nothing to do." : "The next maintenance run continues."}`);
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
    ...(names > 0 ? [`Searches miss ${names} names: another version of ICU lower-cased them.`] : []),
  ];
};

const verify = async (sql: postgres.Sql) => {
  const wrong = [...(await recountBlocks(sql)), ...(await recountProfiles(sql, verifiedProfiles))];
  const problems = [...wrong.map(describe), ...(await findRisks(sql))];
  if (problems.length > 0)
    throw new CommandError(`${problems.join("\n")}\nRun: npm run residents -- rebuild`);
  console.log("All counts are correct.");
};

const rebuild = async (sql: postgres.Sql) => {
  await sql`select resident.restore_triggers()`;
  await sql`select resident.refresh_names()`;
  await sql`select resident.rebuild_blocks()`;
  console.log("Counts rebuilt. Rebuilding search profiles.");
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
  await showStatus(sql);
};

const onDatabase = (work: (sql: postgres.Sql) => Promise<void>) => async () => {
  await withConnection("maintenance", async (sql) => {
    // on a slow machine, counting ten million residents exceeds the role's limit of 20 s
    await sql`set statement_timeout = 0`;
    await work(sql);
  });
};

export const run = verbCommand(
  usage,
  {},
  {
    status: onDatabase(showStatus),
    verify: onDatabase(verify),
    rebuild: onDatabase(rebuild),
  },
);

if (import.meta.main) await runCommand(run);
