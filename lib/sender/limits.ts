import type postgres from "postgres";
import { cityPool, type MessageClass, messageClasses } from "#lib/messaging/submission.ts";

/** What a sender may send, and has sent today. */
export interface SenderTerms {
  sender: string;
  /** Its accounts send the messages. */
  pool: string;
  classes: MessageClass[];
  /** Codes of the countries whose numbers it means although they could be numbers at home. */
  countries: string[];
  /** Null for no limit. */
  perDay: number | null;
  bytesPerDay: number | null;
  messagesToday: number;
  bytesToday: number;
}

/** Lists what each sender may send and has sent today, with users of the secret that have sent something. */
export const listTerms = async (sql: postgres.ISql): Promise<SenderTerms[]> => {
  const rows = await sql<
    (Omit<SenderTerms, "classes" | "countries"> & Record<"classes" | "countries", string | null>)[]
  >`
    with today as (
      select substr(sender, 5) as name, sum(messages)::int as messages, sum(bytes)::float8 as bytes
      from messaging.sender_day where day = messaging.today() and sender like 'api:%' group by sender
    )
    select coalesce(s.name, today.name) as sender, coalesce(pool, ${cityPool}) as pool,
      array_to_string(classes, ' ') as classes, array_to_string(countries, ' ') as countries, per_day as "perDay",
      bytes_per_day::float8 as "bytesPerDay", coalesce(messages, 0) as "messagesToday", coalesce(bytes, 0) as "bytesToday"
    from messaging.sender s full join today on today.name = s.name order by 1`;
  return rows.map(({ classes, countries, ...row }) => ({
    ...row,
    countries: countries ? countries.split(" ") : [],
    // without a row it is a user of the secret
    classes: (classes?.split(" ") ?? [...messageClasses]) as MessageClass[],
  }));
};
