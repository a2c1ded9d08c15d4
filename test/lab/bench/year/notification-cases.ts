import { readAudience } from "#lib/notification/audience.ts";
import { jobs } from "#lib/notification/jobs.ts";
import { listOptedOut } from "#lib/notification/opt-out.ts";
import { listMissed, listOutcomes, markSeen, storeOutcomes } from "#lib/notification/recipient.ts";
import { closeRun, countStates, listRuns, openRun } from "#lib/notification/run.ts";
import { resolveTemplate } from "#lib/notification/template-version.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import type { Ground, Measurable } from "./groups.ts";
import { phoneOf } from "./message-data.ts";
import { bulkName } from "./notification-data.ts";

/** As many recipients as the messenger takes at once. */
const batch = 200;

/** The statements of a job's run, without the messenger. */
export async function* notificationCases({ owner, sql, parts }: Ground): AsyncGenerator<Measurable> {
  const pepper = await digestTerm();
  for (const { name, audience } of jobs)
    yield {
      name: `notifications: audience of ${name}`,
      run: () => readAudience(sql, audience, new Date(), async () => {}),
    };
  const [{ name: job = "" } = {}] = jobs;
  let run = "";
  const scheduled_time = (turn: number) => new Date(Date.UTC(2020, 0, 1, 0, turn)).toISOString();
  yield {
    name: "notifications: open a run",
    run: async (turn) => {
      run = await openRun(sql, { job, scheduled_time: scheduled_time(turn) });
    },
  };
  const keys = (turn: number, prefix: string) =>
    Array.from({ length: batch }, (_, i) => `${prefix}${turn * batch + i + 1}`);
  const scope = { job: "document-status", at: "-infinity" };
  yield {
    name: "notifications: outcomes of 200 keys",
    run: (turn) => listOutcomes(sql, scope, keys(turn % 50, "D-")),
  };
  yield {
    name: "notifications: mark 200 as seen",
    run: (turn) => markSeen(sql, scope, keys(turn % 50, "D-")),
  };
  const outcomes = (turn: number) =>
    keys(turn, "new-").map((key) => ({ key, outcome: "accepted" as const, messageId: "M1" }));
  yield {
    name: "notifications: store 200 outcomes and count the run's recipients",
    run: (turn) => storeOutcomes(sql, scope, run, outcomes(turn)),
    most: Math.ceil(parts.bulkRecipients / batch),
  };
  const [largest] = await owner<
    { id: string }[]
  >`select id from notification.run where job = ${`bulk:${bulkName}`}`;
  const phones = Array.from({ length: batch }, (_, person) => phoneOf(person));
  yield { name: "notifications: opted out, 200 numbers", run: () => listOptedOut({ sql, pepper }, phones) };
  yield { name: "notifications: close a run", run: () => closeRun(sql, { id: run, job }) };
  yield { name: "notifications: messages of a run by state", run: () => countStates(sql, run) };
  yield { name: "notifications: runs of a job", run: () => listRuns(sql, job, 20) };
  yield {
    name: "notifications: whom a bulk run missed",
    run: () => listMissed(sql, largest?.id ?? "", 1_000),
  };
  yield { name: "notifications: find a text", run: () => resolveTemplate(sql, "text-7") };
}
