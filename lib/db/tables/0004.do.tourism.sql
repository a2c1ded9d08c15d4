-- Tourism categories and photos.
set role municipal_owner;

create table tourism.category (
  id text primary key check (id <> ''),
  name text not null,
  active text not null
);

create table tourism.photo (
  id integer primary key,
  destination_id text not null check (destination_id <> ''),
  url text not null,
  caption text not null
);
create index photo_by_destination on tourism.photo (destination_id, id);

grant usage on schema tourism to municipal_tourism, municipal_importer;
grant select on tourism.category, tourism.photo to municipal_tourism;
grant select, insert, update on tourism.category, tourism.photo to municipal_importer;

reset role;
