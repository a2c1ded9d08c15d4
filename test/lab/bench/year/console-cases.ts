import { readBulkState } from "#lib/console/bulk-state.ts";
import { listAccountRows } from "#lib/console/panels/accounts.ts";
import { listActs, openActs } from "#lib/console/panels/acts.ts";
import { listCallbacks } from "#lib/console/panels/callbacks.ts";
import { listHours } from "#lib/console/panels/chart.ts";
import { listMessages } from "#lib/console/panels/messages.ts";
import { listBulkRuns, listFailedJobs, listRuns } from "#lib/console/panels/runs.ts";
import { listSenderSummaries } from "#lib/console/panels/senders.ts";
import { readConsoleState } from "#lib/console/state.ts";
import { findAnswer, findUnresolved } from "#lib/messenger/outbox/answer.ts";
import { findPause } from "#lib/messenger/outbox/depth.ts";
import { listSenders } from "#lib/messenger/outbox/list.ts";
import { explainQueue } from "#lib/messenger/outbox/next.ts";
import type { Ground, Measurable } from "./groups.ts";
import { numbers, phoneOf, senders } from "./message-data.ts";
import { restrictions } from "./open-messages.ts";

/** Whom it records. */
const operator = { id: "operator", name: "Operator", role: "operator" as const };

/** The console's page, which polls, and each of its statements. */
export async function* consoleCases({
  sql: own,
  consoleSql: sql,
  parts,
}: Ground): AsyncGenerator<Measurable> {
  const statements = {
    accounts: () => listAccountRows(sql),
    "latest actions": () => listActs(sql),
    callbacks: () => listCallbacks(sql),
    "chart of 24 hours": () => listHours(sql),
    "latest messages": () => listMessages(sql, {}),
    "messages of the most active sender": () => listMessages(sql, { sender: senders[0] }),
    "messages of a sender who has sent none": () => listMessages(sql, { sender: "api:nobody" }),
    "latest runs": () => listRuns(sql),
    "jobs that fail": () => listFailedJobs(sql),
    "bulk runs": () => listBulkRuns(sql),
    "page of bulk runs": () => readBulkState(sql),
    "senders and their terms": () => listSenderSummaries(sql),
    "senders of messages": () => listSenders(sql),
    pause: () => findPause(sql),
    answer: () => findAnswer(sql),
    "unresolved replies": () => findUnresolved(sql),
  };
  for (const [name, run] of Object.entries(statements)) yield { name: `console: ${name}`, run };
  const phone = (turn: number) => phoneOf((turn * 31) % parts.persons);
  yield { name: "console: messages to a number", run: (turn) => listMessages(sql, { phone: phone(turn) }) };
  yield {
    name: "console: messages to a number of a sender",
    run: (turn) => listMessages(sql, { phone: phone(turn), sender: senders[1] }),
  };
  yield { name: "console: a message by its id", run: (turn) => listMessages(sql, { id: `M${turn + 1}` }) };
  yield {
    name: "console: the whole page",
    run: () =>
      readConsoleState(sql, {
        own: { connection: { kind: "open", since: new Date().toISOString() }, leader: true, jobs: [] },
        number: numbers[1],
        isDatabaseUp: async () => true,
        explain: async (inside, ids) => {
          await explainQueue(inside, restrictions(1, 1), ids);
          return new Map();
        },
        filter: {},
      }),
  };
  const acts = openActs(own);
  yield { name: "console: record an action and its result", run: () => acts.record(operator, "pause") };
}
