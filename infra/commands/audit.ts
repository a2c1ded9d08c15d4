import { parseArgs } from "node:util";
import type postgres from "postgres";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";

const usage = `Usage: npm run audit -- verify [--seal N --digest HEX]

Checks that the audit of resident reads is as it was sealed: nothing removed, changed or slipped in. Give the
number and digest of a seal from the log of the upkeep («audit sealed») to see that seals were not made anew.
Exit code: 0 all is as it was, 1 something is not.`;

const sealsAtOnce = 200;

interface Verdict {
  id: string;
  digest: string;
  problem: string | null;
}

const verify = async (sql: postgres.Sql, expected: { seal: string; digest: string } | undefined) => {
  const problems: string[] = [];
  let newest: Verdict | undefined;
  let met = false;
  for (let more = true; more; ) {
    const verdicts = await sql<Verdict[]>`
      select id::text, digest, problem from audit.verify_seals(${newest?.id ?? "0"}::bigint, ${sealsAtOnce})`;
    for (const verdict of verdicts) {
      const { id, digest, problem } = verdict;
      if (problem) problems.push(`seal ${id}: ${problem}`);
      if (id === expected?.seal) {
        met = true;
        if (digest !== expected.digest.toLowerCase())
          problems.push(`seal ${id}: has another digest than the log`);
      }
      newest = verdict;
    }
    more = verdicts.length === sealsAtOnce;
  }
  if (expected && !met) problems.push(`seal ${expected.seal}: is missing`);
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
  console.log(
    newest
      ? `All ${newest.id} seals are right. The newest has the digest\n${newest.digest}`
      : "Nothing is sealed yet.",
  );
};

export const run = command(usage, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { seal: { type: "string" }, digest: { type: "string" } },
  });
  if (positionals.join(" ") !== "verify") throw new CommandError("Say verify; --help tells more");
  const { seal, digest } = values;
  if ((seal === undefined) !== (digest === undefined))
    throw new CommandError("Give --seal and --digest together");
  await withConnection("maintenance", (sql) =>
    verify(sql, seal !== undefined && digest !== undefined ? { seal, digest } : undefined),
  );
  return 0;
});

if (import.meta.main) await runCommand(run);
