import type postgres from "postgres";
import { invalidField } from "#lib/faults/invalid-input.ts";
import type { MessageQuery } from "#lib/messaging/message-query.ts";
import type { MessagePage } from "#lib/messaging/submission.ts";
import type { Encryption } from "./encryption.ts";
import { type StateRow, stateColumns, toState } from "./state.ts";

/** Ends of pages: encrypted for their sender, so that nobody can read, change or exchange them. */
const cursors = (encryption: Encryption, sender: string) => {
  const context = `page/${sender}`;
  return {
    write: (seq: string): string => encryption.encrypt(context, Buffer.from(seq)).toString("base64url"),
    /** @throws Fault 400 */
    read(cursor: string): string {
      const bytes = Buffer.from(cursor, "base64url");
      try {
        // the last character has bits that decoding ignores
        if (bytes.toString("base64url") === cursor) return encryption.decrypt(context, bytes).toString();
      } catch {
        // of another sender, or changed
      }
      throw invalidField("after", "after must be next of the previous page, unchanged");
    },
  };
};

/**
 * Finds up to where messages may be listed: a message with a lower seq that is not committed by now never will be.
 *
 * The order of the statements matters, and that each sees what was committed before it. A lower seq than the newest was
 * taken before; its transaction has ended, or still holds the lock that messaging.first_insert finds.
 */
const findSettled = async (sql: postgres.Sql): Promise<string> => {
  const [newest] = await sql<{ seq: string }[]>`
    select last_value::text as seq from messaging.message_seq_seq`;
  const [settled] = await sql<{ seq: string }[]>`
    select least(${newest?.seq ?? "0"}::text::bigint, messaging.first_insert())::text as seq`;
  return settled?.seq ?? "0";
};

/**
 * Lists messages of a sender in the order of acceptance. Pages neither skip nor repeat a message, however many are
 * accepted meanwhile by whichever task: one whose transaction is still in progress, and all after it, come later.
 *
 * @throws Fault 400 for an `after` that is not an end of a page of this sender.
 */
export const listMessages = async (
  sql: postgres.Sql,
  encryption: Encryption,
  { sender, state, since, after, limit }: MessageQuery,
): Promise<MessagePage> => {
  const { read, write } = cursors(encryption, sender);
  const first = after === undefined ? "0" : read(after);
  const settled = await findSettled(sql);
  // accepting takes seconds: the message of an hour before has a lower seq than any since
  const isRecent = sql`accepted_at >= ${since ?? null}::text::timestamptz and seq > coalesce((
    select seq from messaging.message
    where accepted_at < ${since ?? null}::text::timestamptz - interval '1 hour' order by accepted_at desc limit 1), 0)`;
  const rows = await sql<(StateRow & { seq: string })[]>`
    select ${stateColumns(sql)}, seq::text from messaging.message
    where sender = ${sender} and seq > ${first}::text::bigint and seq <= ${settled}::text::bigint
      ${state === undefined ? sql`` : sql`and state = ${state}`} ${since === undefined ? sql`` : sql`and ${isRecent}`}
    order by messaging.message.seq limit ${limit + 1}`;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { messages: shown.map(toState), next: last ? write(last.seq) : null };
};
