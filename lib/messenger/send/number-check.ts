import type postgres from "postgres";
import type { Directory } from "#lib/channels/channel.ts";

/** A registered number seldom changes; an unregistered one may register at any time. */
const registeredFor = "7 days";
const unregisteredFor = "1 hour";

/** Returns the address of a number on the platform, undefined if it is not registered; an account's answer is cached. */
export const findAddress = async (
  sql: postgres.Sql,
  account: number,
  registry: Pick<Directory, "findAddress">,
  phone: string,
): Promise<string | undefined> => {
  const [cached] = await sql<{ address: string | null }[]>`
    select address from messaging.number_check
    where account = ${account} and phone = ${phone} and checked_at > now() - case when address is not null then ${registeredFor}::interval
      else ${unregisteredFor}::interval end`;
  if (cached) return cached.address ?? undefined;
  const address = await registry.findAddress(phone);
  await sql`
    insert into messaging.number_check (account, phone, address) values (${account}, ${phone}, ${address ?? null})
    on conflict (account, phone) do update set address = excluded.address, checked_at = now()`;
  return address;
};
