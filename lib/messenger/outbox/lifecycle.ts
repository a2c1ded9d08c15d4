import type postgres from "postgres";
import { channelPolicies } from "#lib/messaging/channel.ts";
import { type MessageClass, messageClasses, priorities, type State } from "#lib/messaging/submission.ts";
import { lockedInOrder, type Outgoing, reasons } from "./message.ts";

/** Which statement changes the state of a message from what to what: all there are, in SQL too. */
export const transitions = {
  /** Of `next.ts`. */
  takeNext: { from: ["PENDING"], to: ["SENDING"] },
  returnToQueue: { from: ["SENDING"], to: ["PENDING", "UNCERTAIN"] },
  deferUntilQuietEnd: { from: ["SENDING"], to: ["PENDING"] },
  recover: { from: ["SENDING"], to: ["PENDING", "UNCERTAIN"] },
  /** For the sender, `recover`, and a platform that reports a failure: PENDING if it begins anew at the next channel. */
  fail: { from: ["SENDING", "SENT", "UNCERTAIN"], to: ["FAILED", "UNCERTAIN", "PENDING"] },
  markUnclear: { from: ["SENDING"], to: ["UNCERTAIN"] },
  expire: { from: ["PENDING", "SENDING"], to: ["EXPIRED", "UNCERTAIN"] },
  /** Of `receipt.ts`. */
  markSent: { from: ["SENDING"], to: ["SENT"] },
  applyReceipt: {
    from: ["PENDING", "SENDING", "SENT", "UNCERTAIN", "DELIVERED"],
    to: ["SENT", "DELIVERED", "READ"],
  },
  /** Of `cancel.ts`. */
  cancel: { from: ["PENDING"], to: ["CANCELLED"] },
  cancelRun: { from: ["PENDING"], to: ["CANCELLED"] },
  /** Of `next-channel.ts`: it begins anew. */
  moveLate: { from: ["PENDING", "SENDING", "SENT", "UNCERTAIN"], to: ["PENDING"] },
  /** Functions of the database: its run was cancelled while it was being sent; the recipient has opted out. */
  cancel_late: { from: ["SENDING"], to: ["CANCELLED"] },
  end_unwanted: { from: ["PENDING"], to: ["FAILED", "UNCERTAIN"] },
} as const satisfies Record<string, { readonly from: readonly State[]; readonly to: readonly State[] }>;

/** Matches a message while the leader that took it is sending it. Writes by a former leader are ignored. */
export const isBeingSent = (sql: postgres.Sql, id: string, epoch: number) =>
  sql`id = ${id} and state = 'SENDING' and epoch = ${epoch}`;

/** Matches a message that waits and of which nothing may have left: it may be cancelled, or sent by another account. */
export const waits = (sql: postgres.ISql) => sql`state = 'PENDING' and attempts <= failed_early`;

/** Counts the sends of a message before the present one. Each may have left. */
export const countEarlierSends = ({ attempts, failedEarly }: Pick<Outgoing, "attempts" | "failedEarly">) =>
  attempts - failedEarly - 1;

/** Whether a channel that a message was taken from may have sent it. */
export const leftBefore = (sql: postgres.ISql) =>
  sql`exists (select from messaging.payload p where p.seq = message.seq and p.may_have_left)`;

/** Whether a message has its payload. A frame leaves only after the payload is stored. */
const isComposed = (sql: postgres.ISql) =>
  sql`exists (
    select from messaging.payload p where p.seq = message.seq and p.channel = ${channelOf(sql)})`;

const listPriorities = (of: (name: MessageClass) => boolean): string =>
  messageClasses
    .filter(of)
    .map((name) => priorities[name])
    .join();

export const goesOnUnsent = listPriorities((name) => channelPolicies[name].unsent);

/** Gives a message to the account `next`, of another channel, where it begins anew. */
export const begunAnew = (sql: postgres.ISql) => sql`
  account = next, state = 'PENDING', reason = null, attempts = 0, failed_early = 0, rejections = null, epoch = null, number = null,
  uploaded = false, due_at = now(), not_before = now(), held_until = null, changed_at = now()`;

/** The channel of the account that a message was given to. */
export const channelOf = (sql: postgres.ISql) =>
  sql`(select a.channel from messaging.account a where a.id = message.account)`;

/**
 * Ends messages that their channel has not sent. By the policy of its class one that is still of use goes on to an account of
 * the pool's next channel instead. One that an earlier attempt or channel may have sent goes on only as a code, and is
 * UNCERTAIN, not FAILED.
 *
 * @param which a condition on `messaging.message`.
 * @returns how many.
 */
export const fail = async (
  sql: postgres.Sql,
  which: postgres.Fragment,
  reason: string,
  isFinal = false,
): Promise<number> => {
  const hasLeft = sql`(attempts - failed_early > 1 or ${leftBefore(sql)})`;
  const goesOn = isFinal
    ? sql`false`
    : sql`expires_at > now() and (priority = 0 or not ${hasLeft})
        and priority = any(string_to_array(${goesOnUnsent}, ',')::smallint[])`;
  const [row] = await sql<{ count: number }[]>`
    with failing as materialized (
      select seq, case when ${goesOn} then messaging.next_account(pool, account) end as next,
        case when ${hasLeft} then 'UNCERTAIN' else 'FAILED' end as outcome, ${channelOf(sql)} as channel,
        attempts - failed_early > 1 as is_repeated
      from messaging.message where ${which} order by seq + 0 for update
    ), marked as (
      update messaging.payload p set may_have_left = true from failing
      where p.seq = failing.seq and p.channel = failing.channel and is_repeated and next is not null
    ), moved as (
      update messaging.message m set ${begunAnew(sql)} from failing where m.seq = failing.seq and next is not null
    ), ended as (
      update messaging.message m set state = outcome, reason = ${reason}, changed_at = now()
      from failing where m.seq = failing.seq and next is null
    )
    select count(*)::int as count from failing`;
  return row?.count ?? 0;
};

export const markFailed = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  reason: string,
): Promise<void> => {
  await fail(sql, isBeingSent(sql, id, epoch), reason, reason === reasons.optedOut);
};

/** Ends a message of which the database does not accept what happened to it: an operator sees it. */
export const markUnclear = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  reason = reasons.unclear,
): Promise<void> => {
  await sql`
    update messaging.message
    set state = 'UNCERTAIN', reason = ${reason}, changed_at = now()
    where ${isBeingSent(sql, id, epoch)}`;
};

/**
 * After this many sends without an answer the outcome is uncertain, and the message is not sent again.
 *
 * @param canRepeat whether phones know a second copy by its id.
 */
const maxSends = (canRepeat: boolean): number => (canRepeat ? 5 : 1);
/** After this many attempts that ended before a frame left, a message has failed. */
export const maxFailedEarly = 5;

/** Makes a message PENDING again, or UNCERTAIN after too many sends. */
const requeued = (sql: postgres.Sql, canRepeat: boolean) => sql`
  state = case when attempts - failed_early >= ${maxSends(canRepeat)} then 'UNCERTAIN' else 'PENDING' end,
  reason = case when attempts - failed_early >= ${maxSends(canRepeat)} then ${reasons.unanswered} end`;

/** What an attempt costs a message that returns to the queue. */
const costs = {
  /** Nothing of it has left, and the attempt is not counted: the reason is not its own, or counted in `rejections`. */
  nothing: (sql: postgres.Sql) => sql`state = 'PENDING', attempts = attempts - 1`,
  /** Nothing of it has left, although the platform is connected. After {@link maxFailedEarly} such attempts it fails. */
  attempt: (sql: postgres.Sql) => sql`state = 'PENDING', failed_early = failed_early + 1`,
  /** It may have left. After too many such sends it is UNCERTAIN instead. */
  send: requeued,
};

export interface Return {
  readonly cost: keyof typeof costs;
  /** Before it may be taken again. Default: 0. */
  readonly delaySeconds?: number;
  /** How often it was rejected, this time included. */
  readonly rejections?: Outgoing["rejections"];
  /** Its media were uploaded. */
  readonly uploaded?: true;
  /** Whether phones know a second copy by its id; else one send is too many. Default: true. */
  readonly canRepeat?: boolean;
}

/** Puts a message back into the queue from which it was taken. */
export const returnToQueue = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  { cost, delaySeconds = 0, rejections, uploaded, canRepeat = true }: Return,
): Promise<void> => {
  await sql`
    update messaging.message
    set ${costs[cost](sql, canRepeat)}, not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now(),
      rejections = ${rejections ? sql`${JSON.stringify(rejections)}::text::jsonb` : sql`rejections`},
      uploaded = uploaded or ${uploaded ?? false}
    where ${isBeingSent(sql, id, epoch)}`;
};

/** Defers a message that was taken within its quiet hours, and all others with the same hours, to their end. */
export const deferUntilQuietEnd = async (
  sql: postgres.Sql,
  { id, epoch, quietUntil }: Outgoing,
): Promise<void> => {
  await sql`
    with taken as (
      -- without an epoch it does not hold back other messages to the same number
      update messaging.message set state = 'PENDING', attempts = attempts - 1, epoch = null,
        not_before = ${quietUntil}, due_at = ${quietUntil}, held_until = ${quietUntil}, changed_at = now()
      where ${isBeingSent(sql, id, epoch)}
      returning id, quiet_hours
    )
    update messaging.message waiting set not_before = ${quietUntil}, due_at = ${quietUntil}, held_until = ${quietUntil} from taken
    where ${lockedInOrder(
      sql,
      sql`is_open and state = 'PENDING' and quiet_hours = (select quiet_hours from taken)
        and not_before < ${quietUntil} and id <> ${id}`,
    )}`;
};

/**
 * Puts messages back whose sending was interrupted. Of a message that was not composed yet, such as an upload, nothing has left:
 * it is never UNCERTAIN, and fails after `maxFailedEarly` such attempts.
 *
 * @param epoch the term of the account's leader; a former one changes nothing.
 * @param underWay ids of messages that are still being sent.
 * @param canRepeat as that of {@link returnToQueue}.
 * @returns how many.
 */
export const recover = async (
  sql: postgres.Sql,
  epoch: number,
  underWay: readonly string[] = [],
  canRepeat = true,
): Promise<number> => {
  const isInterrupted = sql`is_open and state = 'SENDING' and epoch <= ${epoch}
    and account = (select account from messaging.leadership where epoch = ${epoch})
    and id <> all(string_to_array(${underWay.join()}, ','))`;
  // nothing, as a rule; each of the others reads all that is open, too
  const [found] = await sql`select from messaging.message where ${isInterrupted} limit 1`;
  if (!found) return 0;
  const isUncomposed = sql`${isInterrupted} and not ${isComposed(sql)}`;
  const failed = await fail(
    sql,
    sql`${isUncomposed} and failed_early + 1 >= ${maxFailedEarly}`,
    reasons.unprepared,
  );
  const uncomposed = await sql`
    update messaging.message set ${costs.attempt(sql)}, changed_at = now() where ${lockedInOrder(sql, isUncomposed)}`;
  const others = await sql`
    update messaging.message set ${requeued(sql, canRepeat)}, changed_at = now()
    where ${lockedInOrder(sql, isInterrupted)}`;
  return failed + uncomposed.count + others.count;
};

/** A condition that every row meets: only with it does PostgreSQL use the index of expiries (`message_open_by_expiry`). */
export const byExpiry = (sql: postgres.ISql) => sql`seq + 1 is not null`;

/** Ends messages that were not sent in time. @returns how many. */
export const expire = async (sql: postgres.Sql): Promise<number> => {
  const { count } = await sql`
    update messaging.message
    set state = case
        when messaging.may_have_arrived(message) then 'UNCERTAIN'
        else 'EXPIRED' end,
      reason = case
        when rejections ? 'code' then
          ${reasons.expired} || '; rejected by the platform before, code ' || (rejections ->> 'code')
        when rejections ? 'media' then ${reasons.expiredWithoutMedia}
        when rejections ? 'directory' then ${reasons.expiredWithoutDirectory}
        else ${reasons.expired} end, changed_at = now()
    where ${lockedInOrder(
      sql,
      sql`is_open and ${byExpiry(sql)} and expires_at <= now() and (state <> 'SENDING' or expires_at <= now() - interval '5 minutes')`,
    )}`;
  return count;
};
