-- Search by name (functions/resident/name-search.sql).
--
-- pg_trgm is a trusted extension, which the database's owner may create. It has its own schema, because everybody who
-- may use that schema may execute its functions.
create schema extension;
create extension pg_trgm with schema extension;
grant usage on schema extension to municipal_owner;
set role municipal_owner;

-- Each search scans the whole list of pending entries, so maintenance merges it often.
create index resident_name_trigrams on resident.resident using gin (name_search extension.gin_trgm_ops);

-- The strings of three or more letters that are counted.
create table resident.frequent_substring (
  term text collate "C" primary key,
  -- the first generation that counts it
  generation integer not null
);

create table resident.substring_generation (
  is_only boolean primary key default true check (is_only),
  generation integer not null,
  -- number of residents when it was chosen
  row_count bigint not null
);
insert into resident.substring_generation (generation, row_count) values (0, 0);

-- The number of names that contain a string, for 128 consecutive blocks: block n has index n % 128 + 1 in cluster n /
-- 128. Without a row, no name of the cluster contains it.
create table resident.substring_count (
  term text collate "C" not null,
  cluster integer not null,
  counts integer[] not null check (cardinality(counts) = 128),
  primary key (term, cluster)
) with (fillfactor = 70);
create index substring_count_cluster on resident.substring_count (cluster);

create type resident.finding as (total bigint, ids bigint[]);

-- A block with matches on the page: its range, and how many matches it and the newer blocks (`above`) have.
create type resident.stretch as (
  high_created_at timestamp(6), high_id bigint, low_created_at timestamp(6), low_id bigint,
  above bigint, matches integer
);

reset role;
