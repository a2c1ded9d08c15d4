-- Shows the first 4 and last 2 digits. With the last 4, only the birth date would be left to guess.
create or replace function resident.mask_number(number text) returns text
language sql immutable parallel safe
return left(number, 4) || repeat('*', length(number) - 6) || right(number, 2);

-- Shows the first letter of each word, and not its length.
create or replace function resident.mask_name(name text) returns text
language sql immutable parallel safe
return regexp_replace(name, '(\S)\S*', '\1***', 'g');

-- Shows the first 4 characters, but at most half of the address.
create or replace function resident.mask_address(address text) returns text
language sql immutable parallel safe
return left(address, least(4, length(address) / 2)) || '******';

-- Leaves out what is not among the fields, if there are any; null means all of them.
create or replace function resident.mask(resident resident.resident, fields text[]) returns resident.masked_resident
language sql stable parallel safe
return row(
  case when 'nik_alt' = any (fields) is not false then resident.mask_number((resident).nik) end,
  case when 'nama' = any (fields) is not false then (resident).name end,
  case when 'nama_ibu_alt' = any (fields) is not false then resident.mask_name((resident).mother_name) end,
  case when 'no_kk_alt' = any (fields) is not false then resident.mask_number((resident).family_card_number) end,
  case when 'alamat_alt' = any (fields) is not false then resident.mask_address((resident).address) end,
  case when 't_dusun_lingkungan' = any (fields) is not false then (resident).hamlet end,
  case when 't_desakel' = any (fields) is not false then (resident).village end,
  case when 't_kec' = any (fields) is not false then (resident).district end,
  case when 't_kabkota' = any (fields) is not false then (resident).city end,
  case when 'created_at' = any (fields) is not false
    then to_char((resident).created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US') end
)::resident.masked_resident;
