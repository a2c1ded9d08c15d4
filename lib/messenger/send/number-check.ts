import type postgres from "postgres";
import type { Channel } from "../channels/channel.ts";

/** A registered number seldom changes; an unregistered one may register at any time. */
const registeredFor = "7 days";
const unregisteredFor = "1 hour";

const findCached = async (sql: postgres.ISql, phone: string) => {
  const [cached] = await sql<{ address: string | null }[]>`
    select address from messaging.number_check
    where phone = ${phone} and checked_at > now() - case when address is not null then ${registeredFor}::interval
      else ${unregisteredFor}::interval end`;
  return cached;
};

/** Whether a message to a number needs no answer of the platform for the number or its devices. */
export const isKnown = async (
  sql: postgres.ISql,
  registry: Pick<Channel, "knowsDevices">,
  phone: string,
): Promise<boolean> => {
  const cached = await findCached(sql, phone);
  if (!cached) return false;
  return cached.address === null || registry.knowsDevices(cached.address);
};

/** Returns the address of a number on the platform, undefined if it is not registered; the answer is cached. */
export const findAddress = async (
  sql: postgres.Sql,
  registry: Pick<Channel, "findAddress">,
  phone: string,
): Promise<string | undefined> => {
  const cached = await findCached(sql, phone);
  if (cached) return cached.address ?? undefined;
  const address = await registry.findAddress(phone);
  await sql`
    insert into messaging.number_check (phone, address) values (${phone}, ${address ?? null})
    on conflict (phone) do update set address = excluded.address, checked_at = now()`;
  return address;
};
