-- Ids per partition, about 22 GB. Partition n begins at id n * width.
create or replace function audit.partition_width() returns bigint language sql immutable return 100000000;

-- Creates the next partition ahead of time: at 50 reads a second one lasts 23 days. If the first row of the current
-- partition is more than a month old, the sequence skips to the next one, so that a small city's rows expire at most a
-- month late. Returns the number of partitions created.
create or replace function audit.extend_partitions() returns integer
language plpgsql volatile security definer
set search_path = audit, pg_temp
set lock_timeout = '3s'
as $$
declare
  width constant bigint := audit.partition_width();
  last_id constant bigint := (select last_value from audit.resident_read_id);
  present constant bigint := last_id / width;
  made integer := 0;
begin
  for number in present .. present + 1 loop
    continue when to_regclass(format('audit.resident_read_%s', number)) is not null;
    -- CREATE TABLE … PARTITION OF would block readers; ATTACH does not. Rows are never updated, so the first vacuum
    -- freezes them and none has to read them again to prevent wraparound.
    execute format('create table audit.resident_read_%s (like audit.resident_read including all)
      with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_freeze_min_age = 0)', number);
    execute format('alter table audit.resident_read attach partition audit.resident_read_%s
      for values from (%s) to (%s)', number, number * width, (number + 1) * width);
    made := made + 1;
  end loop;
  -- not near the end of the range: readers could pass it before setval, which would then hand out ids again
  if made = 0 and last_id % width < width - 1000000 and now() - interval '1 month' > (
    select read_at from audit.resident_read where id >= present * width order by id limit 1)
  then
    perform setval('audit.resident_read_id', (present + 1) * width, false);
  end if;
  return made;
end
$$;

create or replace function audit.age_limit() returns interval language sql immutable return interval '5 years';

-- Drops the oldest partition once all its seals are older than five years. The seals stay, for the chain. The last one
-- may extend into the next partition; its rows there stay until that partition is dropped. DROP blocks new readers
-- while it waits for current ones, so it gives up after 0.1 s. Returns the number of rows in the expired seals.
create or replace function audit.expire_reads() returns integer
language plpgsql volatile security definer
set search_path = audit, pg_temp
set lock_timeout = '100ms'
as $$
declare
  width constant bigint := audit.partition_width();
  oldest record;
  newest audit.seal;
  gone integer;
begin
  select inhrelid::regclass as name, (substring(relname from '[0-9]+$')::bigint + 1) * width as end_id into oldest
  from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit.resident_read'::regclass
  order by end_id limit 1;
  select * into newest from audit.seal where first_id < oldest.end_id order by id desc limit 1;
  if oldest.end_id > (select last_value from audit.resident_read_id)
    or newest.sealed_at > now() - audit.age_limit() is not false
    or exists (select from audit.resident_read where id > newest.last_id and id < oldest.end_id)
  then
    return 0;
  end if;
  execute format('drop table %s', oldest.name);
  with expired as (
    update audit.seal set expired_at = now() where id <= newest.id and expired_at is null returning row_count
  )
  select coalesce(sum(row_count), 0) into gone from expired;
  return gone;
exception when lock_not_available then
  return 0;
end
$$;

grant execute on function audit.extend_partitions, audit.expire_reads to municipal_maintenance;
