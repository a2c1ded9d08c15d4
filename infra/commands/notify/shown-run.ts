import type { NotifyContext } from "#lib/notification/context.ts";
import { listMissed } from "#lib/notification/recipient.ts";
import { countStates, nameOutcome, outcomes, type Run } from "#lib/notification/run.ts";
import { exitCodes, type Reply } from "../command.ts";

/** Recipients that are listed with the reason why they were not reached. */
export const maxMissed = 100;

const describeRun = (run: Run) => {
  const counts = outcomes.map((outcome) => `${run[outcome]} ${nameOutcome(outcome)}`).join(", ");
  const reason = run.reason === null ? "" : `: ${run.reason}`;
  return `${run.job} at ${run.scheduledAt.toISOString()}  ${run.state}${reason}\n  recipients: ${counts}`;
};

/** Shows a run with its messages by state, and whom it has not reached. */
export const showRun = async ({ sql }: NotifyContext, run: Run): Promise<Reply> => {
  const [states, missed] = await Promise.all([countStates(sql, run.id), listMissed(sql, run.id, maxMissed)]);
  const more = run.refused + run.expired - missed.length;
  const lines = [
    describeRun(run),
    ...(states.length > 0
      ? [`  messages: ${states.map(({ state, count }) => `${count} ${state}`).join(", ")}`]
      : []),
    ...missed.map(
      ({ key, outcome, reason }) => `  ${key || "(no key)"}  ${nameOutcome(outcome)}: ${reason ?? ""}`,
    ),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
  const code = run.refused + run.expired > 0 ? exitCodes.partly : exitCodes.done;
  return { text: lines.join("\n"), json: { ...run, messages: states, missed }, code };
};
