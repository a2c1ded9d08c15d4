import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { lockedInOrder, type Outgoing, reasons } from "./message.ts";
import { byExpiry, channelOf, fail } from "./next-channel.ts";
import { rememberRecipients } from "./state.ts";

/**
 * After this many sends without an answer the outcome is uncertain, and the message is not sent again.
 *
 * @param canRepeat whether phones know a second copy by its id.
 */
const maxSends = (canRepeat: boolean): number => (canRepeat ? 5 : 1);
/** After this many attempts that ended before a frame left, a message has failed. */
export const maxUnsent = 5;

/** Whether a message has its payload. A frame leaves only after the payload is stored. */
const isComposed = (sql: postgres.ISql) =>
  sql`exists (
    select from messaging.payload p where p.seq = message.seq and p.channel = ${channelOf(sql)})`;

/** Matches a message while the leader that took it is sending it. Writes by a former leader are ignored. */
export const isBeingSent = (sql: postgres.Sql, id: string, epoch: number) =>
  sql`id = ${id} and state = 'SENDING' and epoch = ${epoch}`;

/**
 * Marks a message that the platform has accepted. A receipt may have arrived before, or it may have gone on to another channel,
 * which sends it all the same.
 *
 * @param reference the platform's own id of it.
 */
export const markSent = async (
  sql: postgres.Sql,
  { id, phone, account, number }: Outgoing,
  reference?: string,
): Promise<void> => {
  if (reference !== undefined)
    await sql`
      update messaging.payload p set reference = ${reference}
      from messaging.message m join messaging.account a on a.id = ${account}
      where m.id = ${id} and p.seq = m.seq and p.channel = a.channel`;
  const isOwn = sql`state = 'SENDING' and account = ${account}`;
  await sql`
    with sent as (
      update messaging.message
      set state = case when ${isOwn} then 'SENT' else state end, sent_at = now(),
        changed_at = case when ${isOwn} then now() else changed_at end
      where id = ${id}
      returning pool, ${phone} as phone, ${number} as number, ${account}::smallint as account
    ), ${rememberRecipients(sql)}`;
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

/** Makes a message PENDING again, or UNCERTAIN after too many sends. */
const requeued = (sql: postgres.Sql, canRepeat: boolean) => sql`
  state = case when attempts - unsent >= ${maxSends(canRepeat)} then 'UNCERTAIN' else 'PENDING' end,
  reason = case when attempts - unsent >= ${maxSends(canRepeat)} then ${reasons.unanswered} end`;

const setPending = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  delaySeconds: number,
  state: postgres.Fragment,
): Promise<void> => {
  await sql`
    update messaging.message
    set ${state}, not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now()
    where ${isBeingSent(sql, id, epoch)}`;
};

/**
 * Requeues a message whose outcome is unknown. After too many sends it is UNCERTAIN instead.
 *
 * @param delaySeconds before it may be taken again.
 * @param canRepeat whether phones know a second copy by its id; else it is UNCERTAIN at once.
 */
export const requeue = (
  sql: postgres.Sql,
  message: Outgoing,
  delaySeconds: number,
  canRepeat = true,
): Promise<void> => setPending(sql, message, delaySeconds, requeued(sql, canRepeat));

/** Requeues a message whose frame has not left, although the platform is connected: the attempt counts. */
export const requeueFailed = (sql: postgres.Sql, message: Outgoing, delaySeconds: number): Promise<void> =>
  setPending(sql, message, delaySeconds, sql`state = 'PENDING', unsent = unsent + 1`);

/** Requeues a message whose frame has not left for a reason that concerns all messages: the attempt does not count. */
export const requeueUnsent = (sql: postgres.Sql, message: Outgoing, delaySeconds: number): Promise<void> =>
  setPending(sql, message, delaySeconds, sql`state = 'PENDING', attempts = attempts - 1`);

/** Requeues a message that the platform has rejected, or a service failed for: the attempt does not count, that does. */
export const requeueRejected = (
  sql: postgres.Sql,
  message: Outgoing,
  delaySeconds: number,
  rejections: Outgoing["rejections"],
): Promise<void> =>
  setPending(
    sql,
    message,
    delaySeconds,
    sql`state = 'PENDING', attempts = attempts - 1, rejections = ${JSON.stringify(rejections)}::text::jsonb`,
  );

/** Requeues a message that was composed, and whose media were uploaded, so that it waits for its turn. */
export const requeueComposed = (sql: postgres.Sql, message: Outgoing): Promise<void> =>
  setPending(sql, message, 0, sql`state = 'PENDING', attempts = attempts - 1, uploaded = true`);

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
 * Requeues messages whose sending was interrupted. Of one that was not composed yet, such as an upload, nothing has left:
 * it is never UNCERTAIN, and has failed if that happens each time.
 *
 * @param epoch the term of the account's leader; a former one changes nothing.
 * @param underWay ids of messages that are still being sent.
 * @param canRepeat as that of {@link requeue}.
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
  const failed = await fail(sql, sql`${isUncomposed} and unsent + 1 >= ${maxUnsent}`, reasons.unprepared);
  const uncomposed = await sql`
    update messaging.message set state = 'PENDING', unsent = unsent + 1, changed_at = now() where ${lockedInOrder(sql, isUncomposed)}`;
  const others = await sql`
    update messaging.message set ${requeued(sql, canRepeat)}, changed_at = now()
    where ${lockedInOrder(sql, isInterrupted)}`;
  return failed + uncomposed.count + others.count;
};

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

const retryDelayMs = 300;

/** Whether the database rejects a value: classes 22, data exceptions, and 23, violated constraints. */
export const isRejectedValue = (error: unknown): boolean =>
  error instanceof Error && /^2[23][0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code));

/**
 * Retries work until it succeeds, such as an update while the database is unavailable.
 *
 * @param signal stops the retries.
 * @throws the error of a value that the database would reject each time.
 */
export const retryUntilDone = async (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  for (;;) {
    const done = await work().then(
      () => true,
      (error: unknown) => {
        if (!isRejectedValue(error)) return false;
        log.error("the database rejects a value", { error });
        throw error;
      },
    );
    if (done || signal.aborted) return;
    await setTimeout(retryDelayMs, undefined, { signal }).catch(() => {});
  }
};
