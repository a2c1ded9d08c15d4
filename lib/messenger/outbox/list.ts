import type postgres from "postgres";
import { invalidField } from "#lib/errors/invalid-input.ts";
import type { MessagePage, MessageQuery, State } from "#lib/messaging/submission.ts";
import type { Encryption } from "./encryption.ts";
import { type StateRow, stateColumns, toState } from "./state.ts";

/** Ends of pages: encrypted for their sender, so that nobody can read, change or exchange them. */
const cursors = (encryption: Encryption, sender: string) => {
  const context = `page/${sender}`;
  return {
    write: (seq: string): string => encryption.encrypt(context, Buffer.from(seq)).toString("base64url"),
    /** @throws ApiError 400 */
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

/** Of a sender, which one page looks through for those in a state; a page that ends there is short, and has a next. */
const defaultMaxScanned = 10_000;

interface Window {
  /** The page has only messages after this seq, as text. */
  readonly after: string;
  /** Where the page ends at the latest. */
  readonly until: string;
  /** Whether there are messages after it. */
  readonly isCut: boolean;
}

/** Finds which messages a page looks through. Accepting takes seconds: the message of an hour before has a lower seq than any since. */
const findWindow = async (
  sql: postgres.Sql,
  { sender, since }: MessageQuery,
  first: string,
  maxScanned: number | undefined,
): Promise<Window> => {
  const settled = await findSettled(sql);
  const [window] = await sql<Window[]>`
    select after::text, coalesce(cut - 1, ${settled}::text::bigint)::text as until, cut is not null as "isCut"
    from (
      select greatest(${first}::text::bigint, (
        select seq from messaging.message
        where accepted_at < ${since ?? null}::text::timestamptz - interval '1 hour'
        order by accepted_at desc limit 1)) as after
    ) beginning left join lateral (
      select seq as cut from messaging.message
      where (sender, seq) > (${sender}, after) and (sender, seq) <= (${sender}, ${settled}::text::bigint)
        and ${maxScanned !== undefined}
      order by sender, seq offset ${maxScanned ?? 0} limit 1
    ) rest on true`;
  return window ?? { after: first, until: first, isCut: false };
};

/** As long as one of these is due, or will be, it is in an index of its own: they are few, and usually the newest. */
const openStates: readonly (string | undefined)[] = ["PENDING", "SENDING"] satisfies readonly State[];

/**
 * Lists messages of a sender in the order of acceptance. Pages neither skip nor repeat a message, however many are
 * accepted meanwhile by whichever task: one whose transaction is still in progress, and all after it, come later.
 *
 * @throws ApiError 400 for an `after` that is not an end of a page of this sender.
 */
export const listMessages = async (
  sql: postgres.Sql,
  encryption: Encryption,
  query: MessageQuery,
  maxScanned = defaultMaxScanned,
): Promise<MessagePage> => {
  const { sender, state, since, after: end, limit } = query;
  const { read, write } = cursors(encryption, sender);
  const isOpen = openStates.includes(state);
  const { after, until, isCut } = await findWindow(
    sql,
    query,
    end === undefined ? "0" : read(end),
    state === undefined || isOpen ? undefined : maxScanned,
  );
  const select = (condition: postgres.Fragment, order: postgres.Fragment) => sql`
    select ${stateColumns(sql)}, seq::text, seq + 0 as place from messaging.message
    where ${condition} ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${since === undefined ? sql`` : sql`and accepted_at >= ${since}::text::timestamptz`}
    order by ${order} limit ${limit + 1}`;
  const selectOpen = (condition: postgres.Fragment) =>
    select(
      sql`sender = ${sender} and seq > ${after}::text::bigint and seq <= ${until}::text::bigint and is_open and ${condition}`,
      sql`messaging.message.seq + 0`,
    );
  const rows = await sql<(StateRow & { seq: string })[]>`
    ${
      isOpen
        ? sql`(${selectOpen(sql`held_until is null`)}) union all (${selectOpen(sql`held_until is not null`)})
          order by place limit ${limit + 1}`
        : // as rows, so that no statistics lead to the index of all senders
          select(
            sql`(sender, seq) > (${sender}, ${after}::text::bigint) and (sender, seq) <= (${sender}, ${until}::text::bigint)`,
            sql`messaging.message.sender, messaging.message.seq`,
          )
    }`;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1)?.seq : isCut ? until : undefined;
  return { messages: shown.map(toState), next: last === undefined ? null : write(last) };
};

/**
 * Walks from one sender to the next in an index: DISTINCT would read all messages.
 *
 * @param condition on `messaging.message`, for which there is an index by sender.
 * @returns a query for `with recursive senders (sender) as`, whose last row is null.
 */
export const walkSenders = (sql: postgres.ISql, condition: postgres.Fragment) => sql`
  (select sender from messaging.message where ${condition} order by sender limit 1)
  union all
  select (select m.sender from messaging.message m where ${condition} and m.sender > s.sender order by m.sender limit 1)
  from senders s where s.sender is not null`;

/** Lists who has sent messages. */
export const listSenders = async (sql: postgres.ISql): Promise<string[]> => {
  const rows = await sql<{ sender: string }[]>`
    with recursive senders (sender) as (${walkSenders(sql, sql`true`)})
    select sender from senders where sender is not null`;
  return rows.map(({ sender }) => sender);
};
