import type postgres from "postgres";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { withConnection } from "./connect.ts";

const usage = `Usage: npm run audit -- verify [--seal N --digest HEX]

Verifies the audit of resident reads against its seals: no row was removed, changed or inserted. To detect seals
that were recreated, give the number and digest of a seal from the maintenance log ("audit sealed").
Exit code: 0 all seals are valid, 1 a seal is not.`;

const sealsPerQuery = 200;

interface Verdict {
  id: string;
  digest: string;
  problem: string | null;
}

const verify = async (sql: postgres.Sql, expected: { seal: string; digest: string } | undefined) => {
  const problems: string[] = [];
  let newest: Verdict | undefined;
  let found = false;
  for (let more = true; more; ) {
    const verdicts = await sql<Verdict[]>`
      select id::text, digest, problem from audit.verify_seals(${newest?.id ?? "0"}::bigint, ${sealsPerQuery})`;
    for (const verdict of verdicts) {
      const { id, digest, problem } = verdict;
      if (problem) problems.push(`seal ${id}: ${problem}`);
      if (id === expected?.seal) {
        found = true;
        if (digest !== expected.digest.toLowerCase())
          problems.push(`seal ${id}: its digest differs from the log`);
      }
      newest = verdict;
    }
    more = verdicts.length === sealsPerQuery;
  }
  if (expected && !found) problems.push(`seal ${expected.seal}: it is missing`);
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
  console.log(
    newest
      ? `All ${newest.id} seals are valid. Digest of the newest seal:\n${newest.digest}`
      : "There are no seals yet.",
  );
};

const options = { seal: { type: "string" }, digest: { type: "string" } } as const;

export const run = verbCommand(usage, options, {
  verify: async ({ seal, digest }) => {
    if ((seal === undefined) !== (digest === undefined))
      throw new CommandError("Give --seal and --digest together");
    await withConnection("maintenance", (sql) =>
      verify(sql, seal !== undefined && digest !== undefined ? { seal, digest } : undefined),
    );
  },
});

if (import.meta.main) await runCommand(run);
