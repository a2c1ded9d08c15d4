import type postgres from "postgres";
import { sealReads } from "#lib/maintenance/audit.ts";
import { timed } from "../timing.ts";
import { inBatches } from "./chance.ts";
import { type Row, rowOf } from "./measure.ts";
import type { Sizes } from "./sizes.ts";

const months = 12;
/** What of the newest reads autovacuum has not merged yet into the index of who was shown: half of what it waits for. */
const pendingShare = 0.05;

/**
 * A month of reads: of four, one is a list, half of these its first page; the others show one resident, or ten of a name. Each
 * batch is written in the order of time, so that ids ascend with it.
 */
const addReads = (
  owner: postgres.Sql,
  { residents }: Sizes,
  { month, count, from, to }: { month: number; count: number; from: number; to: number },
) => owner`
  with newest as materialized (
    select array(select id from resident.resident order by created_at desc, id desc limit 10) as ids
  ), first_page as materialized (select audit.encode_ids(ids) as shown from newest)
  insert into audit.resident_read (read_at, partner_id, key_id, request_id, route, nik_digest, name_digest, pepper_version,
    row_count, shown, answers, purpose, user_reference)
  select now() - interval '1 day' * 365 * (${months - month + 1}::int - n::float8 / ${count}::int) / ${months}::int,
    'partner-' || (n % 10), 'key-' || (n % 10), md5(n::text), route,
    case when route = 'verify' or (route = 'search' and one) then sha256(int8send(first_id)) end,
    case when route = 'search' and not one then sha256(int8send(first_id)) end,
    case when route <> 'list' then 1 end,
    case when one then 1 else 10 end,
    case
      when is_first_page then (select shown from first_page)
      when one then audit.encode_ids(array[first_id])
      else audit.encode_ids(array(select first_id + 1 + i * case when route = 'list' then 1 else 97 end from generate_series(0, 9) i)) end,
    case when route = 'verify' then '{"name": true, "mother_name": true}'::json end,
    'SERVICE', 'clerk-' || (n % 50)
  from (
    select n, 1 + floor(bench.share(n, ${month}::int) * ${residents}::int)::bigint as first_id, b < 0.125 as is_first_page,
      case when b < 0.25 then 'list' when b < 0.85 then 'search' else 'verify' end as route, b >= 0.4 as one
    from generate_series(${from}::bigint, ${to}::bigint) n
    cross join lateral (select bench.share(n, ${100 + month}::int) as b) chosen
  ) reads order by n`;

/** Goes on to the next partition, as maintenance does when the first read of the present one is a month old. */
const extendPartitions = async (owner: postgres.Sql): Promise<void> => {
  const last = async () => {
    const [row] = await owner<
      { last: number }[]
    >`select last_value::float8 as last from audit.resident_read_id`;
    return row?.last ?? 0;
  };
  const before = await last();
  for (let tries = 0; tries < 3 && (await last()) === before; tries++)
    await owner`select audit.extend_partitions()`;
};

/**
 * Adds the reads of a year, month by month, and seals them as maintenance does.
 *
 * @param maintenance connection of its role. @returns how long the seals took.
 */
export const addAudit = async (
  owner: postgres.Sql,
  maintenance: postgres.Sql,
  sizes: Sizes,
): Promise<readonly Row[]> => {
  const perMonth = Math.ceil(sizes.audits / months);
  const late = Math.floor(sizes.audits * pendingShare);
  const times: number[] = [];
  const add = (month: number, first: number, last: number) =>
    inBatches(last - first, (from, to) =>
      addReads(owner, sizes, { month, count: perMonth, from: from + first, to: to + first }),
    );
  for (let month = 1; month <= months; month++) {
    await add(month, 0, month === months ? Math.max(0, perMonth - late) : perMonth);
    if (month < months) await extendPartitions(owner);
  }
  await owner`vacuum (analyze) audit.resident_read`;
  await add(months, Math.max(0, perMonth - late), perMonth);
  for (let more = true; more; ) {
    let rows = 0;
    const ms = await timed(async () => ({ rows, more } = await sealReads(maintenance, 1)));
    if (rows > 0) times.push(ms);
  }
  // those of the last minutes are still to be stored outside the database
  await owner`update audit.seal set anchored_at = sealed_at where id <= (select max(id) - 20 from audit.seal)`;
  await owner`analyze audit.resident_read`;
  await owner`vacuum (analyze) audit.seal`;
  return [rowOf("maintenance: sealReads, up to 10,000 rows", times)];
};
