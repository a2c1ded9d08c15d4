import type postgres from "postgres";

interface Registry {
  isRegistered(phone: string): Promise<boolean>;
}

/** A registered number seldom changes; an unregistered one may register at any time. */
const registeredFor = "7 days";
const unregisteredFor = "1 hour";

/** Whether the number is registered on the platform; the answer is cached. */
export const isRegistered = async (
  sql: postgres.Sql,
  registry: Registry,
  phone: string,
): Promise<boolean> => {
  const [cached] = await sql<{ registered: boolean }[]>`
    select registered from messaging.number_check
    where phone = ${phone} and checked_at > now() - case when registered then ${registeredFor}::interval
      else ${unregisteredFor}::interval end`;
  if (cached) return cached.registered;
  const registered = await registry.isRegistered(phone);
  await sql`
    insert into messaging.number_check (phone, registered) values (${phone}, ${registered})
    on conflict (phone) do update set registered = excluded.registered, checked_at = now()`;
  return registered;
};
