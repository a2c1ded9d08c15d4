import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { states } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { cancel } from "#lib/messenger/outbox/cancel.ts";
import {
  deferUntilQuietEnd,
  expire,
  markFailed,
  markUnclear,
  recover,
  returnToQueue,
  transitions,
} from "#lib/messenger/outbox/lifecycle.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { applyReceipt, applyReport, markSent } from "#lib/messenger/outbox/receipt.ts";
import { beginTerm, takeAny } from "../../fleet/outbox-rows.ts";
import { epoch, listStates, put, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox();

type Writer = (message: Outgoing) => unknown;
const endUnwanted: Writer = ({ phone }) => sql`select messaging.end_unwanted(array[${phone}])`;
const late = async () => {
  await sql`update messaging.message set expires_at = now() - interval '1 hour'`;
  await expire(sql);
};
/** Those of one message, and of one channel. */
const writers = {
  takeNext: () => takeAny(sql, epoch),
  returnToQueue: (message) => returnToQueue(sql, message, { cost: "nothing" }),
  deferUntilQuietEnd: (message) => deferUntilQuietEnd(sql, { ...message, quietUntil: new Date(4e12) }),
  recover: async () => recover(sql, await beginTerm(sql)),
  fail: async (message) => {
    await markFailed(sql, message, "broken");
    const report = { id: message.id, state: "FAILED" } as const;
    await applyReport(sql, firstAccount, report, () => "rejected");
  },
  markUnclear: (message) => markUnclear(sql, message),
  expire: late,
  markSent: (message) => markSent(sql, message),
  applyReceipt: ({ id }) => applyReceipt(sql, firstAccount, id, "READ"),
  cancel: ({ id, sender }) => cancel(sql, id, sender).catch(() => {}),
  end_unwanted: endUnwanted,
} satisfies Partial<Record<keyof typeof transitions, Writer>>;

describe.each(Object.entries(writers))("%s", (name, write: Writer) => {
  const { from, to } = transitions[name as keyof typeof writers];

  test.each(states)("changes a message that is %s as the table says", async (state) => {
    await put("A", { class: "reminder" });
    const message = await take();
    await sql`update messaging.message set state = ${state}, not_before = now(),
      attempts = ${state === "PENDING" ? 0 : 1}`;
    await write(message);
    const { A } = await listStates();
    const isFrom = (from as readonly string[]).includes(state);
    expect(isFrom ? [state, ...to] : [state]).toContain(A);
    if (from[0] === state) expect(to as readonly (string | undefined)[]).toContain(A);
  });
});

/** The functions, of TypeScript or SQL, that change a message's state. */
const listWriters = (): string[] => {
  const sources = globSync(["lib/**/*.ts", "lib/db/functions/**/*.sql"]);
  const functions = sources.flatMap((file) =>
    readFileSync(file, "utf8").split(/^(?=(?:export )?const |create or replace function )/m),
  );
  const changesState = (text: string) =>
    [...text.matchAll(/update messaging\.message\b[^`]*?\bset\b(.*?)\b(?:where|from)\b/gs)].some(
      ([, set = ""]) => /\bstate = |\bbegunAnew\(|\brequeued\(|costs\[/.test(set),
    ) || /\bnew\.state := /.test(text);
  return functions
    .filter(changesState)
    .map((text) => /(?:const |function \w+\.)(\w+)/.exec(text)?.[1] ?? "")
    .toSorted();
};

test("every statement that changes the state of a message is a row of the table", () => {
  expect(listWriters()).toEqual(Object.keys(transitions).toSorted());
});
