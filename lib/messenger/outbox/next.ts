import type postgres from "postgres";
import type { Outgoing } from "./message.ts";

export interface Choice {
  /** The leader's term; a former leader gets no message. */
  readonly epoch: number;
  /** Numbers that may not be sent to yet. */
  readonly resting: readonly string[];
  /** Whether messages to new numbers may be taken. */
  readonly newContacts: boolean;
}

/**
 * Takes the next message to send: by priority, then senders in turn, then in the order of acceptance. A requeued message
 * stays ahead of later messages to the same number.
 */
export const takeNext = async (sql: postgres.Sql, choice: Choice): Promise<Outgoing | undefined> => {
  const { epoch, resting, newContacts } = choice;
  const [row] = await sql<Outgoing[]>`
    with term as materialized (
      -- the lock delays the next leader's term until this statement has ended, so that its recovery sees the row
      select from messaging.leadership where epoch = ${epoch} for share
    )
    update messaging.message taken
    set state = 'SENDING', attempts = attempts + 1, epoch = ${epoch}, changed_at = now()
    where id = (
      select id from messaging.message waiting
      where is_open and state = 'PENDING' and not_before <= now() and expires_at > now()
        and not exists (select from messaging.control where paused)
        and phone <> all(string_to_array(${resting.join()}, ','))
        and (${newContacts} or exists (select from messaging.contact c where c.phone = waiting.phone))
        -- not NOT EXISTS, which the planner may execute as a join of all pending messages
        and (
          select earlier.seq from messaging.message earlier
          where earlier.is_open and earlier.phone = waiting.phone and earlier.seq < waiting.seq
            and (earlier.priority, earlier.turn, earlier.seq) < (waiting.priority, waiting.turn, waiting.seq)
            and (earlier.state = 'SENDING' or (earlier.epoch is not null and earlier.not_before > now()))
          order by earlier.priority, earlier.turn, earlier.seq limit 1) is null
      -- not SKIP LOCKED, which would send a later message first
      order by priority, turn, seq limit 1 for update)
    and exists (select from term)
    returning id, kind, phone, content, media_id as "mediaId", attempts, epoch,
      (select bytes from messaging.payload p where p.seq = taken.seq) as payload,
      messaging.quiet_until(quiet_hours, now()) as "quietUntil",
      not exists (select from messaging.contact c where c.phone = taken.phone) as "isNewContact"`;
  return row;
};
