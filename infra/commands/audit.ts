import { readFileSync } from "node:fs";
import type postgres from "postgres";
import { findLoggedSeals, type LoggedSeal, readLoggedSeals } from "./audit-log.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { withConnection } from "./connect.ts";

const usage = `Usage: npm run audit -- verify [--stage STAGE | --log FILE]

Verifies the audit of resident reads against its seals: no row was removed, changed or inserted. With the log of
maintenance, which somebody who changes the database cannot reach, it also detects removed and recreated seals:

  --stage STAGE   reads the log of the stage from CloudWatch Logs; needs AWS_REGION and credentials
  --log FILE      reads the lines of a log from a file

Exit code: 0 all seals are valid, 1 a seal is not.`;

const sealsPerQuery = 200;

interface Verdict {
  id: string;
  digest: string;
  problem: string | null;
}

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
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
  return newest;
};

const options = { stage: { type: "string" }, log: { type: "string" } } as const;

const readLines = (file: string): string[] => {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    throw new CommandError(`The file ${file} cannot be read`);
  }
};

const readLog = async (stage: string | undefined, file: string | undefined): Promise<LoggedSeal[]> => {
  if (stage !== undefined && file !== undefined) throw new CommandError("Give either --stage or --log");
  const logged = stage ? await readLoggedSeals(stage) : file && findLoggedSeals(readLines(file));
  if (logged && logged.length === 0) throw new CommandError('The log has no line "audit sealed".');
  return logged || [];
};

export const run = verbCommand(usage, options, {
  verify: async ({ stage, log }) => {
    const logged = await readLog(stage, log);
    const newest = await withConnection("maintenance", (sql) => verify(sql, logged));
    if (!newest) return console.log("There are no seals yet.");
    const compared = new Set(logged.map(({ seal }) => seal)).size;
    console.log(`All ${newest.id} seals are valid${compared > 0 ? `, ${compared} of them by the log` : ""}.`);
    if (compared === 0) console.log("Recreated seals were not looked for: that takes --stage or --log.");
  },
});

if (import.meta.main) await runCommand(run);
