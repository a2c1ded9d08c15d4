import { cancelRun } from "#lib/messenger/outbox/cancel.ts";
import { carefulPace } from "#lib/messenger/send/pace.ts";
import { planMessages } from "#lib/messenger/send/plan.ts";
import { findInRun, listOutcomes, reportBulkRun, storeOutcomes } from "#lib/notification/recipient.ts";
import { bulkJob, closeRun, findBulkRun, openBulkRun, requireUsable } from "#lib/notification/run.ts";
import type { Ground, Measurable } from "./groups.ts";
import { withoutEffect } from "./measure.ts";
import { phoneOf } from "./message-data.ts";
import { bulkName } from "./notification-data.ts";

const batch = 200;

/** Bulk runs, which the console starts. */
export async function* bulkCases({ owner, sql, consoleSql, parts }: Ground): AsyncGenerator<Measurable> {
  const scope = { job: bulkJob(bulkName), at: "-infinity" };
  const run = await findBulkRun(sql, bulkName);
  if (!run) throw new Error(`there is no run ${scope.job}`);
  const phones = Array.from({ length: parts.bulkRecipients }, (_, n) => phoneOf(n % parts.persons));
  yield { name: "bulk: days of all messages", run: () => planMessages(sql, carefulPace, phones), most: 20 };
  yield withoutEffect(sql, {
    name: "bulk: open the run again",
    run: (inside) => openBulkRun(inside, bulkName, "status-change", parts.bulkRecipients),
  });
  const keys = Array.from({ length: batch }, (_, n) => `key-${n}`);
  yield { name: "bulk: sent before, 200 keys", run: () => listOutcomes(sql, scope, keys) };
  yield { name: "bulk: messages of 200 numbers", run: () => findInRun(sql, run.id, phones.slice(0, batch)) };
  const lines = (turn: number) =>
    keys.map((key, n) => ({
      ...{ key: `${key}-${turn}`, outcome: "accepted" as const, messageId: "M1", file: "f" },
      ...{ line: n, masked: "6281•••12" },
    }));
  yield withoutEffect(sql, {
    name: "bulk: store 200 lines and count the run's recipients",
    run: (inside, turn) => storeOutcomes(inside, scope, run.id, lines(turn)),
  });
  yield { name: "bulk: whether it was cancelled", run: () => requireUsable(sql, bulkName, "status-change") };
  yield { name: "bulk: report", run: () => reportBulkRun(consoleSql, run.id), most: 20 };
  yield { name: "bulk: close", run: () => closeRun(sql, run) };
  yield withoutEffect(sql, {
    name: "bulk: cancel a run of which all wait",
    before: (inside) =>
      inside`update messaging.message set run = ${run.id} where is_open and quiet_hours is not null`,
    run: (inside) => cancelRun(inside, bulkName),
    most: 3,
  });
  await owner`vacuum (analyze) messaging.message`;
}
