import type postgres from "postgres";

/** Asks the platform whether it knows a number. */
interface Registry {
  isRegistered(phone: string): Promise<boolean>;
}

/** A number that is known seldom goes away; one that is not may come any time. */
const keepKnown = "7 days";
const keepUnknown = "1 hour";

/** Whether the platform knows the number: from what it said lately, or asked anew. */
export const isRegistered = async (
  sql: postgres.Sql,
  registry: Registry,
  phone: string,
): Promise<boolean> => {
  const [known] = await sql<{ registered: boolean }[]>`
    select registered from messaging.number_check
    where phone = ${phone} and checked_at > now() - case when registered then ${keepKnown}::interval
      else ${keepUnknown}::interval end`;
  if (known) return known.registered;
  const registered = await registry.isRegistered(phone);
  await sql`
    insert into messaging.number_check (phone, registered) values (${phone}, ${registered})
    on conflict (phone) do update set registered = excluded.registered, checked_at = now()`;
  return registered;
};
