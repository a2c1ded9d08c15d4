import type postgres from "postgres";

export const nikOf = (number: number): string => `99${String(number).padStart(14, "0")}`;

/**
 * Adds residents by one statement, whose NIKs are those of `from` and the numbers after it.
 *
 * @param time SQL of their times, in which `i` is the number. Without it: now.
 */
export const insertSeries = (
  sql: postgres.Sql,
  from: number,
  rows: number,
  time = "now() at time zone 'Asia/Jakarta'",
) =>
  sql.unsafe(`
    insert into resident.resident (nik, family_card_number, name, mother_name, address, hamlet, village, district,
      city, created_at)
    select nik, '9971010101010001', 'SITI ' || i, 'I', 'A', nik, 'V', 'K', 'C', ${time}
    from generate_series(${from}, ${from + rows - 1}) i cross join lateral (select '99' || lpad(i::text, 14, '0') as nik) n`);
