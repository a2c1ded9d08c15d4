import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { Inbound } from "#lib/channels/channel.ts";
import { describeRejection } from "#lib/channels/codes.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { ChannelEvents, Reply, Report } from "#lib/messaging/channel-events.ts";
import { applyReport, findReported } from "./outbox/receipt.ts";

/** A report may come before the answer that has the platform's reference of the message. */
const waitMs = 500;
const maxWaits = 4;

/** Older replies say what a person wanted before. */
const lateMs = 24 * 60 * 60_000;

/** Finds the number of a person whom the platform names by a user id, also by the message that is replied to. */
const findPhone = async (sql: postgres.Sql, account: number, { phone, user, reference }: Reply) => {
  if (phone !== undefined) return phone;
  const message = reference === undefined ? undefined : await findReported(sql, account, { reference });
  if (message || user === undefined) return message?.phone;
  // one or two; in SQL, any order would make the planner read the index of that order instead of the one by address
  const known = await sql<{ phone: string; at: Date }[]>`
    select phone, checked_at as at from messaging.number_check
    where account = ${account} and address = ${user} and address <> phone || '@s.whatsapp.net'`;
  return known.toSorted((one, other) => other.at.getTime() - one.at.getTime())[0]?.phone;
};

/**
 * Applies what the webhook of an account has received; any task may, whoever leads the account.
 *
 * @returns how many reports concern messages of the account; undefined for an unknown account.
 * @throws while the database is unavailable; then the platform must repeat it. What was applied before changes nothing.
 */
export const applyEvents = async (
  sql: postgres.Sql,
  { account: name, reports, replies }: ChannelEvents,
  onInbound: (inbound: Inbound) => Promise<void>,
): Promise<number | undefined> => {
  const [account] = await sql<{ id: number; channel: ChannelName }[]>`
    select id, channel from messaging.account where name = ${name} and channel <> 'whatsapp'`;
  if (!account) return undefined;
  const describe = (code: string) => describeRejection(account.channel, code);
  const apply = async (given: readonly Report[]): Promise<Report[]> => {
    const unknown: Report[] = [];
    for (const report of given)
      if (!(await applyReport(sql, account.id, report, describe))) unknown.push(report);
    return unknown;
  };
  let unknown = await apply(reports);
  for (let left = maxWaits; left > 0 && unknown.some(({ id }) => id === undefined); left--) {
    await setTimeout(waitMs);
    unknown = await apply(unknown);
  }
  for (const reply of replies) {
    const { text, sent_at } = reply;
    const phone = await findPhone(sql, account.id, reply);
    const sentAt = new Date(sent_at);
    const isLate = Date.now() - sentAt.getTime() > lateMs;
    await onInbound({ phone, text, sentAt, isEdit: false, isLate });
  }
  return reports.length - unknown.length;
};
