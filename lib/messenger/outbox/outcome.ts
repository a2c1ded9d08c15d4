import type postgres from "postgres";
import type { Outgoing } from "./message.ts";

/** After so many sends without an answer nobody knows whether it arrived: it is not sent again. */
const maxAttempts = 5;

/** A message that this leader took. Writes by a former leader are ignored. */
export const underWay = (sql: postgres.Sql, id: string, epoch: number) =>
  sql`id = ${id} and state = 'SENDING' and epoch = ${epoch}`;

/** The platform has it. A receipt may have said so before. */
export const markSent = async (sql: postgres.Sql, { id, phone }: Outgoing): Promise<void> => {
  await sql`
    with contact as (
      insert into messaging.contact (phone) values (${phone}) on conflict do nothing
    )
    update messaging.message
    set state = case state when 'SENDING' then 'SENT' else state end, sent_at = now(), changed_at = now()
    where id = ${id}`;
};

export const markFailed = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  reason: string,
): Promise<void> => {
  await sql`
    update messaging.message set state = 'FAILED', reason = ${reason}, changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Back in the queue, unless it was sent too often. */
const waitingAgain = (sql: postgres.Sql) => sql`
  state = case when attempts >= ${maxAttempts} then 'UNCERTAIN' else 'PENDING' end,
  reason = case when attempts >= ${maxAttempts} then 'the platform gave no answer' end`;

/**
 * Puts a message back that nobody knows to have arrived. After too many sends it is UNCERTAIN instead.
 *
 * @param delaySeconds before it may be taken again.
 */
export const putBack = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  delaySeconds: number,
): Promise<void> => {
  await sql`
    update messaging.message
    set ${waitingAgain(sql)},
      not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Puts a message back whose frame has not left: this send does not count. */
export const undo = async (
  sql: postgres.Sql,
  { id, epoch }: Outgoing,
  delaySeconds: number,
): Promise<void> => {
  await sql`
    update messaging.message
    set state = 'PENDING', attempts = attempts - 1,
      not_before = now() + ${delaySeconds} * interval '1 second', changed_at = now()
    where ${underWay(sql, id, epoch)}`;
};

/** Lets a message that was taken in its quiet hours wait for their end, and with it all that have the same ones. */
export const waitForQuietEnd = async (
  sql: postgres.Sql,
  { id, epoch, quietUntil }: Outgoing,
): Promise<void> => {
  await sql`
    with taken as (
      -- without an epoch, as one that was never taken: what is sent meanwhile to its number need not wait for it
      update messaging.message set state = 'PENDING', attempts = attempts - 1, epoch = null,
        not_before = ${quietUntil}, changed_at = now()
      where ${underWay(sql, id, epoch)}
      returning id, quiet_hours
    )
    update messaging.message waiting set not_before = ${quietUntil} from taken
    where waiting.is_open and waiting.state = 'PENDING' and waiting.quiet_hours = taken.quiet_hours
      and waiting.not_before < ${quietUntil} and waiting.id <> taken.id`;
};

/** Takes over what is under way though nobody sends it now. @returns how many are to be sent again. */
export const recover = async (sql: postgres.Sql, epoch: number): Promise<number> => {
  const { count } = await sql`
    update messaging.message
    set ${waitingAgain(sql)}, changed_at = now()
    where is_open and state = 'SENDING' and epoch <= ${epoch}`;
  return count;
};

/** Ends what came too late to be sent. @returns how many. */
export const expire = async (sql: postgres.Sql): Promise<number> => {
  const { count } = await sql`
    update messaging.message
    set state = case when attempts > 0 then 'UNCERTAIN' else 'EXPIRED' end,
      reason = 'not sent before it expired', changed_at = now()
    where is_open and expires_at + case state when 'SENDING' then interval '5 minutes'
      else interval '0' end <= now()`;
  return count;
};
