import { readFileSync } from "node:fs";
import type postgres from "postgres";
import { findLoggedSeals, type LoggedSeal, readLoggedSeals } from "./audit-log.ts";
import { CommandError, command, readWhole, runCommand, WrongCall } from "./command.ts";
import { requireStageDatabase, withConnection } from "./connect.ts";

const sealsPerQuery = 200;

interface Verdict {
  id: string;
  digest: string;
  problem: string | null;
}

const whatToDo =
  "The audit was changed outside the product. Do not delete anything; copy the database and the log, find out who had " +
  "access (lib/docs/guides/en/personal-data.md), and inform the person responsible for data protection.";

/**
 * Leaves out the seals that were lost when the database was restored: those after the last seal of the backup which the
 * log has before the first one that was made after the restore.
 */
const withoutLost = async (
  sql: postgres.Sql,
  logged: readonly LoggedSeal[],
  lastOfBackup: number,
): Promise<LoggedSeal[]> => {
  const [next] = await sql<
    { id: string }[]
  >`select id::text from audit.verify_seals(${lastOfBackup}::bigint, 1)`;
  const again = next ? logged.findLastIndex(({ seal }) => seal === next.id) : logged.length;
  return logged.filter(({ seal }, index) => Number(seal) <= lastOfBackup || index >= again);
};

/** @param logged seals in the log. */
const verify = async (sql: postgres.Sql, logged: readonly LoggedSeal[]): Promise<Verdict | undefined> => {
  const problems: string[] = [];
  const expected = Map.groupBy(logged, ({ seal }) => seal);
  let newest: Verdict | undefined;
  for (let more = true; more; ) {
    const verdicts = await sql<Verdict[]>`
      select id::text, digest, problem from audit.verify_seals(${newest?.id ?? "0"}::bigint, ${sealsPerQuery})`;
    for (const verdict of verdicts) {
      const { id, digest, problem } = verdict;
      if (problem) problems.push(`seal ${id}: ${problem}`);
      if (expected.get(id)?.some((entry) => entry.digest !== digest))
        problems.push(`seal ${id}: its digest differs from the log`);
      expected.delete(id);
      newest = verdict;
    }
    more = verdicts.length === sealsPerQuery;
  }
  for (const seal of expected.keys()) problems.push(`seal ${seal}: it is missing`);
  if (problems.length > 0) throw new CommandError(`${problems.join("\n")}\n${whatToDo}`);
  return newest;
};

const readLines = (file: string): string[] => {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    throw new CommandError(`The file ${file} cannot be read`);
  }
};

const readLog = async (stage: string | undefined, file: string | undefined): Promise<LoggedSeal[]> => {
  if (stage !== undefined && file !== undefined) throw new WrongCall("Give either --stage or --log");
  const logged = stage ? await readLoggedSeals(stage) : file && findLoggedSeals(readLines(file));
  if (logged && logged.length === 0) throw new CommandError('The log has no line "audit sealed".');
  return logged || [];
};

const describe = (newest: Verdict | undefined, compared: number): string => {
  if (!newest) return "There are no seals yet. Nothing to do: maintenance seals reads within 15 minutes.";
  const valid = `All ${newest.id} seals are valid${compared > 0 ? `, ${compared} of them by the log` : ""}.`;
  if (compared > 0) return `${valid} Nothing to do.`;
  return `${valid}\nThis check cannot detect recreated seals. On a stage, run: npm run audit -- verify --stage STAGE`;
};

export const run = command("audit", "Verify the audit of resident reads.", (program, answer) => {
  program
    .command("verify")
    .description(
      "verify the audit against its seals: no row was removed, changed or inserted\n\n" +
        "With the log of maintenance, which somebody who changes the database cannot reach, it also detects removed " +
        "and recreated seals.",
    )
    .summary("verify the audit against its seals")
    .option(
      "--stage <stage>",
      "read the log of the stage from CloudWatch Logs; needs AWS_REGION and credentials",
    )
    .option("--log <file>", "read the lines of a log from a file")
    .option(
      "--restored <seal>",
      "the database was restored: the last seal of the backup; repeat it for each restore, in their order",
      (seal, earlier: readonly number[]) => [...earlier, readWhole("--restored", 0, 999_999_999)(seal)],
      [] as readonly number[],
    )
    .action(
      answer(async ({ stage, log, restored }) => {
        requireStageDatabase(stage, "maintenance");
        let logged = await readLog(stage, log);
        const newest = await withConnection("maintenance", async (sql) => {
          for (const last of restored) logged = await withoutLost(sql, logged, last);
          return verify(sql, logged);
        });
        const compared = new Set(logged.map(({ seal }) => seal)).size;
        const json = { seals: Number(newest?.id ?? 0), comparedWithLog: compared, valid: true };
        return { text: describe(newest, compared), json };
      }),
    );
});

if (import.meta.main) await runCommand(run);
