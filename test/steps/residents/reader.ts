import type postgres from "postgres";

/** Adds a partner whose key `k` shows every field, and that may read any number of residents. */
export const addReader = async (sql: postgres.Sql, partner = "p", key = "k"): Promise<void> => {
  await sql`
    insert into partner.partner (id, plan, usage_identifier, residents_per_day, look_ups_per_minute)
    values (${partner}, 'portal', ${partner}, null, null) on conflict do nothing`;
  await sql`
    insert into partner.api_key (id, partner_id, digest, scopes)
    values (${key}, ${partner}, sha256(${key}::text::bytea), '{resident:read}') on conflict do nothing`;
};

/** Lets partners verify wrong values, and search for numbers that nobody has, as often as they want. */
export const liftGuessLimits = (sql: postgres.Sql) =>
  sql.unsafe(`
    create or replace function resident.failed_verification_limits(out per_number integer, out per_partner integer)
    language sql immutable begin atomic select 1000000, 1000000; end;
    create or replace function resident.daily_unknown_numbers() returns integer language sql immutable return 1000000`);
