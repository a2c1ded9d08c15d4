import type postgres from "postgres";
import type { Means } from "./context.ts";

type Pepper = Means["pepper"];

const digestOf = ({ digest }: Pepper, phone: string): Buffer => digest(phone) ?? Buffer.alloc(32);

/** Those of the numbers that do not want reminders. */
export const listOptedOut = async (
  { sql, pepper }: Pick<Means, "sql" | "pepper">,
  phones: readonly string[],
): Promise<Set<string>> => {
  const byDigest = new Map(phones.map((phone) => [digestOf(pepper, phone).toString("hex"), phone]));
  const rows = await sql<{ digest: string }[]>`
    select encode(digest, 'hex') as digest from notification.opt_out
    where digest in (select decode(hex, 'hex') from unnest(string_to_array(${[...byDigest.keys()].join()}, ',')) hex)`;
  return new Set(rows.map(({ digest }) => byDigest.get(digest) ?? ""));
};

/** @returns false when the number was there already. */
export const optOut = async (sql: postgres.Sql, pepper: Pepper, phone: string): Promise<boolean> => {
  const { count } = await sql`
    insert into notification.opt_out (digest, pepper_version) values (${digestOf(pepper, phone)}, ${pepper.version})
    on conflict do nothing`;
  return count > 0;
};

/** @returns false when the number was not there. */
export const optIn = async (sql: postgres.Sql, pepper: Pepper, phone: string): Promise<boolean> => {
  const { count } = await sql`delete from notification.opt_out where digest = ${digestOf(pepper, phone)}`;
  return count > 0;
};
