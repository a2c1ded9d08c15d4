import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
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

test.each(Object.entries(writers))(
  "%s changes a message in each state as the table says",
  async (name, write: Writer) => {
    const { from, to } = transitions[name as keyof typeof writers];
    const taken = new Map<string, Outgoing>();
    for (const [index, state] of states.entries()) {
      await put(state, { class: "reminder", phone: `62812000000${index}0` });
      taken.set(state, await take());
    }
    await sql`
      update messaging.message set state = id, not_before = now(), attempts = case id when 'PENDING' then 0 else 1 end`;
    for (const message of taken.values()) await write(message);
    const after = await listStates();
    for (const state of states) {
      const isFrom = (from as readonly string[]).includes(state);
      expect([state, ...(isFrom ? to : [])], state).toContain(after[state]);
    }
    expect(to as readonly (string | undefined)[]).toContain(after[from[0]]);
  },
);

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
