import { beforeEach } from "vitest";
import { describeRejection } from "#lib/channels/codes.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { applyReport } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { beginTerm, number, putMessage } from "../../fleet/outbox-rows.ts";
import { prepare, sql, take, useOutbox } from "./outbox-steps.ts";

/*
 * What the tests of messages that go on to another channel share: an account of WhatsApp, and one of an SMS gateway.
 */

/** The account of the SMS gateway. */
export let sms: number;

export const addAccount = async (name: string, channel: ChannelName): Promise<number> => {
  const [row] = await sql<{ id: number }[]>`
    insert into messaging.account (name, channel, number) values (${name}, ${channel}, ${`sms:${name}`}) returning id`;
  return row?.id ?? 0;
};

export const useChannels = () => {
  useOutbox();
  beforeEach(async () => {
    await sql`update messaging.account set number = ${number} where id = ${firstAccount}`;
    sms = await addAccount("gateway", "sms");
  });
};

const classes = { code: "one-time-code", notice: "transactional", bulk: "bulk" } as const;

/** Stores a message, whose id is the name of its class. */
export const put = async (id: keyof typeof classes, more: Partial<Submission> = {}) => {
  await putMessage(sql, id, { class: classes[id], ...more });
  if (id === "code")
    await sql`update messaging.message set content = '{"sealed": "c2VhbGVk"}' where id = ${id}`;
};

/** Lets an account take the next message and store its payload: from then on a frame may leave. */
export const compose = async (account = firstAccount) => {
  const isWhatsApp = account === firstAccount;
  const term = await beginTerm(sql, account);
  const taken = await take({ account, number: isWhatsApp ? number : "sms:gateway" }, term);
  await prepare(taken, isWhatsApp ? "whatsapp" : "sms");
  return taken;
};

/** Lets time pass for all messages, as if they had been accepted earlier. */
export const age = (seconds: number) =>
  sql`update messaging.message set due_at = due_at - ${seconds} * interval '1 second',
    not_before = not_before - ${seconds} * interval '1 second',
    expires_at = expires_at - ${seconds} * interval '1 second'`;

/** The state of a message, its account, and the reason if it has one. */
export const look = async (id: string): Promise<string> => {
  const { status, account, reason } = (await findState(sql, id)) ?? {};
  return [status, account ?? "any", ...(reason === undefined ? [] : [reason])].join(" ");
};

/** Lets the platform reject an account. */
export const hold = (account: number) =>
  sql`update messaging.account set hold_code = 403 where id = ${account}`;

/** Applies what a platform reports of a message. */
export const report = (more: Parameters<typeof applyReport>[2], account = sms) =>
  applyReport(sql, account, more, (code) => describeRejection("whatsapp", code));
