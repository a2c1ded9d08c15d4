import type postgres from "postgres";
import { findBucket, readAnchors, type StoredAnchor } from "./audit-anchors.ts";
import { CommandError, readWhole, WrongCall } from "./command.ts";
import { findStage, noun, withConnection } from "./stage.ts";

/** Of 10,000 rows each at most: a query takes some seconds, and its role has 20. */
const sealsPerQuery = 50;

interface Verdict {
  id: string;
  digest: string;
  has_anchor: boolean;
  problem: string | null;
}

const whatToDo =
  "The audit was changed outside the product. Do not delete anything; copy the database, find out who had " +
  "access (lib/docs/guides/en/personal-data.md), and inform the person responsible for data protection.";
const howToWait =
  "If maintenance has failed to store anchors (its step audit-anchors), correct that and verify again.";

/** Reads what the database says of its seals, before the anchors: a seal that has one then has it in the bucket. */
const readVerdicts = async (sql: postgres.Sql): Promise<Verdict[]> => {
  const all: Verdict[] = [];
  for (let more = true; more; ) {
    const verdicts = await sql<Verdict[]>`
      select id::text, digest, has_anchor, problem
      from audit.verify_seals(${all.at(-1)?.id ?? "0"}::bigint, ${sealsPerQuery})`;
    all.push(...verdicts);
    more = verdicts.length === sealsPerQuery;
  }
  return all;
};

/**
 * Leaves out the anchors of seals that were lost when the database was restored: those after the last seal of the backup
 * which were stored before the first seal that was made after the restore.
 */
const withoutLost = (
  verdicts: readonly Verdict[],
  anchors: readonly StoredAnchor[],
  lastOfBackup: number,
): StoredAnchor[] => {
  const next = verdicts.find(({ id }) => Number(id) > lastOfBackup);
  const own = anchors.findLastIndex(({ seal, digest }) => seal === next?.id && digest === next.digest);
  // the seals after a restore may all still wait for their anchors
  const again = own < 0 && next?.has_anchor ? anchors.findLastIndex(({ seal }) => seal === next.id) : own;
  return anchors.filter(({ seal }, index) => Number(seal) <= lastOfBackup || (again >= 0 && index >= again));
};

const noAnchor = "it has no anchor";
const sayWhen = ({ at }: StoredAnchor): string => `${at.toISOString().slice(0, 19)}Z`;

/** What the anchors say of one seal: the first one is the truth, and there must be no other. */
const compare = (
  { id, digest, has_anchor }: Verdict,
  [first, ...more]: readonly StoredAnchor[] = [],
): string[] => {
  if (!first) return has_anchor ? [`seal ${id}: ${noAnchor}`] : [];
  return [
    ...(first.digest === digest
      ? []
      : [`seal ${id}: its digest differs from its anchor of ${sayWhen(first)}`]),
    ...more.map(
      (other) => `seal ${id}: an anchor was ${other.isMarker ? "hidden" : "added"} ${sayWhen(other)}`,
    ),
  ];
};

/** The clock of S3 may differ from this one. */
const skewMs = 60_000;

/** @param anchors undefined to verify the seals alone. @param since when the database was read. */
const judge = (
  verdicts: readonly Verdict[],
  anchors: readonly StoredAnchor[] | undefined,
  since: number,
): void => {
  const expected = Map.groupBy(anchors ?? [], ({ seal }) => seal);
  const problems = verdicts.flatMap((verdict) => {
    const { id, problem } = verdict;
    const found = expected.get(id);
    expected.delete(id);
    return [...(problem ? [`seal ${id}: ${problem}`] : []), ...(anchors ? compare(verdict, found) : [])];
  });
  const newest = Number(verdicts.at(-1)?.id ?? 0);
  for (const [seal, [first]] of expected) {
    const isNew = Number(seal) > newest && first && first.at.getTime() > since - skewMs;
    if (!isNew) problems.push(`seal ${seal}: it is missing`);
  }
  if (problems.length === 0) return;
  const advice = problems.every((problem) => problem.endsWith(noAnchor)) ? howToWait : whatToDo;
  throw new CommandError(`${problems.join("\n")}\n${advice}`);
};

/** @returns undefined without a stage and a bucket. */
const readAll = async (
  stage: string | undefined,
  given: string | undefined,
): Promise<readonly StoredAnchor[] | undefined> => {
  const bucket = stage === undefined ? given : await findBucket(stage);
  return bucket === undefined ? undefined : readAnchors(bucket);
};

const describe = (newest: Verdict | undefined, compared: number | undefined): string => {
  if (!newest) return "There are no seals yet. Nothing to do: maintenance seals reads within 15 minutes.";
  const valid = `All ${newest.id} seals are valid${compared === undefined ? "" : `, ${compared} of them by their anchors`}.`;
  if (compared !== undefined) return `${valid} Nothing to do.`;
  return `${valid}\nThis check cannot detect recreated seals. On a stage, run: npm run city -- audit verify --stage STAGE`;
};

export const run = noun("audit", "Verify the audit of resident reads.", (program, answer) => {
  program
    .command("verify")
    .description(
      "verify the audit against its seals: no row was removed, changed or inserted\n\n" +
        "With --stage it reads the anchors of the seals, which nobody can change or delete, so that it also detects removed and recreated seals.",
    )
    .summary("verify the audit against its seals")
    .option(
      "--bucket <name>",
      "read the anchors from a bucket, such as that of a stage that no longer exists",
    )
    .option(
      "--restored <seal>",
      "the database was restored: the last seal of the backup; repeat it for each restore, in their order",
      (seal, earlier: readonly number[]) => [...earlier, readWhole("--restored", 0, 999_999_999)(seal)],
      [] as readonly number[],
    )
    .action(
      answer(async ({ bucket, restored }) => {
        const stage = findStage();
        if (stage !== undefined && bucket !== undefined)
          throw new WrongCall("Give either --stage or --bucket");
        if (restored.length > 0 && stage === undefined && bucket === undefined)
          throw new WrongCall("--restored is about the anchors of the seals. Add --stage or --bucket");
        const since = Date.now();
        const verdicts = await withConnection("maintenance", readVerdicts);
        let anchors = await readAll(stage, bucket);
        for (const last of restored) anchors &&= withoutLost(verdicts, anchors, last);
        judge(verdicts, anchors, since);
        const newest = verdicts.at(-1);
        const compared = anchors && new Set(anchors.map(({ seal }) => seal)).size;
        const json = { seals: Number(newest?.id ?? 0), comparedWithAnchors: compared ?? 0, valid: true };
        return { text: describe(newest, compared), json };
      }),
    );
});
