import { parseArgs } from "node:util";
import type postgres from "postgres";
import { profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
import {
  listBypassableTriggers,
  type Miscount,
  recountBlocks,
  recountProfiles,
} from "#lib/resident/verify.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";

const usage = `Usage: npm run residents -- status|verify|rebuild

  status    how many residents, blocks, pending changes and profiles there are
  verify    recounts every block, and the profiles of some; also checks that triggers are ENABLE ALWAYS and that
            stored lower-case names match this server's ICU; exit code 1 if something is wrong
  rebuild   corrects all of that; writers wait while it counts, readers do not`;

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
  if (!status) throw new Error("there is no status");
  return status;
};

const showStatus = async (sql: postgres.Sql) => {
  const { residents, blocks, biggest, pending, stale, terms, bytes } = await readStatus(sql);
  console.log(`${residents} residents in ${blocks} blocks of at most ${biggest}
${pending} changes not yet folded
${blocks - stale} blocks have a profile, ${stale} wait for one
${terms} frequent strings besides those of one and two letters, ${Math.ceil(bytes / 2 ** 20)} MB`);
};

const profilesVerified = 50;

const describe = ({ blockId, of, counted, found }: Miscount) =>
  of === "rows"
    ? `block ${blockId}: ${counted} rows are counted, there are ${found}`
    : `block ${blockId}: of ${counted} strings in its profile ${found} are right`;

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
  const wrong = [...(await recountBlocks(sql)), ...(await recountProfiles(sql, profilesVerified))];
  const problems = [...wrong.map(describe), ...(await findRisks(sql))];
  if (problems.length > 0)
    throw new CommandError(`${problems.join("\n")}\nRun «npm run residents -- rebuild».`);
  console.log("All counts are right.");
};

const rebuild = async (sql: postgres.Sql) => {
  await sql`select resident.restore_triggers()`;
  await sql`select resident.refresh_names()`;
  await sql`select resident.rebuild_blocks()`;
  console.log("Counts are rebuilt; profiles follow.");
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

const works = { status: showStatus, verify, rebuild };

export const run = command(usage, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [name = "", ...more] = positionals;
  const work = Object.hasOwn(works, name) ? works[name as keyof typeof works] : undefined;
  if (!work || more.length > 0) throw new CommandError(`Choose one of ${Object.keys(works).join(", ")}`);
  await withConnection("maintenance", async (sql) => {
    // ten million residents are counted in more than the role's 20 s on a slow machine
    await sql`set statement_timeout = 0`;
    await work(sql);
  });
  return 0;
});

if (import.meta.main) await runCommand(run);
