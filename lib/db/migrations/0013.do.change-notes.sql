-- Noting changes costs writers less, one by one and in bulk.
--
-- * Few rows are noted each by itself: grouping them, or a search path that is set for each call, costs a single
--   row more than all else (8 writers of single rows had 0.72 of their rate without triggers, and have about 0.8).
-- * The blocks of many are found by binary search in an array: 0.7 µs a row, where the index takes 4 to 6, a
--   seventh of all that an import costs. For few, making the array would cost more.
--
-- So every name of this function is qualified: it runs as its owner, under the search path of whoever writes.
set role municipal_owner;

create or replace function resident.note_change() returns trigger
language plpgsql volatile security definer
as $$
declare
  few constant integer := 100;
  noted integer;
  -- where there are more: a query of created_at, id and difference
  more text;
begin
  -- an expression, not a statement: 10 µs less
  if pg_catalog.pg_advisory_xact_lock_shared(7206307) is null then
    return null;
  end if;
  if pg_catalog.current_setting('transaction_isolation') operator(pg_catalog.<>) 'read committed' then
    perform from resident.block_layout for share;
  end if;
  if tg_op operator(pg_catalog.=) 'INSERT' then
    insert into resident.block_change (block_id, difference)
    select (
      select b.id from resident.block b
      where (b.low_created_at, b.low_id) operator(pg_catalog.<=) (r.created_at, r.id)
      order by b.low_created_at desc, b.low_id desc limit 1
    ), 1
    from new_rows r limit few;
    get diagnostics noted = row_count;
    -- the rest: transition rows always come in the same order
    if noted operator(pg_catalog.=) few then
      more := pg_catalog.format('select created_at, id, 1 as difference from new_rows offset %s', few);
    end if;
  elsif tg_op operator(pg_catalog.=) 'DELETE' then
    insert into resident.block_change (block_id, difference)
    select (
      select b.id from resident.block b
      where (b.low_created_at, b.low_id) operator(pg_catalog.<=) (r.created_at, r.id)
      order by b.low_created_at desc, b.low_id desc limit 1
    ), -1
    from old_rows r limit few;
    get diagnostics noted = row_count;
    if noted operator(pg_catalog.=) few then
      more := pg_catalog.format('select created_at, id, -1 as difference from old_rows offset %s', few);
    end if;
  elsif exists (select from new_rows offset few) then
    -- not a join of old and new rows, whose plan may be one for few rows when there are many
    more := '
      select created_at, id, pg_catalog.sum(sign) as difference
      from (
        select created_at, id, name_search, -1 as sign from old_rows
        union all
        select created_at, id, name_search, 1 from new_rows
      ) both_rows
      group by created_at, id, name_search
      having pg_catalog.sum(sign) operator(pg_catalog.<>) 0';
  else
    insert into resident.block_change (block_id, difference)
    select (
      select b.id from resident.block b
      where (b.low_created_at, b.low_id) operator(pg_catalog.<=) (r.created_at, r.id)
      order by b.low_created_at desc, b.low_id desc limit 1
    ), pg_catalog.sum(r.difference)
    from (
      select created_at, id, pg_catalog.sum(sign) as difference
      from (
        select created_at, id, name_search, -1 as sign from old_rows
        union all
        select created_at, id, name_search, 1 from new_rows
      ) both_rows
      group by created_at, id, name_search
      having pg_catalog.sum(sign) operator(pg_catalog.<>) 0
    ) r
    group by 1;
  end if;
  if more is not null then
    -- only a row at the very time of a boundary needs its id for telling on which side it is
    execute pg_catalog.format('
      insert into resident.block_change (block_id, difference)
      select case when r.created_at operator(pg_catalog.<>) r.lows[r.place] then r.ids[r.place] else (
        select b.id from resident.block b
        where (b.low_created_at, b.low_id) operator(pg_catalog.<=) (r.created_at, r.id)
        order by b.low_created_at desc, b.low_id desc limit 1
      ) end, pg_catalog.sum(r.difference)
      from (
        select c.*, b.lows, b.ids, pg_catalog.width_bucket(c.created_at, b.lows) as place
        from (%s) c, (
          select pg_catalog.array_agg(low_created_at order by low_created_at, low_id) as lows,
            pg_catalog.array_agg(id order by low_created_at, low_id) as ids
          from resident.block
        ) b
      ) r
      group by 1', more);
  end if;
  return null;
end
$$;

reset role;
