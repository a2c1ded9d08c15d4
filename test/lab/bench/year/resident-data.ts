import type postgres from "postgres";
import { countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";
import { addReader } from "../../../steps/residents/reader.ts";
import { fillResidents } from "../resident-database.ts";
import type { Parts, Sizes } from "./sizes.ts";

/** Partners with keys, what they have read in a day, and their wrong verifications. */
const addPartners = (owner: postgres.Sql) =>
  owner
    .unsafe(
      `insert into partner.partner (id, plan, usage_identifier)
       select 'partner-' || n, 'standard', md5(n::text) from generate_series(0, 199) n;
       insert into partner.api_key (id, partner_id, digest, scopes, revoked_at)
       select 'key-' || n, 'partner-' || n % 200, sha256(int8send(n)), '{resident:read,resident:number,resident:verify}',
         case when n >= 200 then now() end
       from generate_series(0, 999) n;
       insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
       select 'partner-' || p, date_bin('10 minutes', now() - span * interval '10 minutes', 'epoch'), 100, 50, 0
       from generate_series(0, 9) p, generate_series(0, 160) span, generate_series(1, 4) at_once;
       insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
       select 'p', since, residents, look_ups, unknown_numbers from resident.read_count where partner_id = 'partner-1';
       insert into resident.failed_verification (partner_id, nik_digest, made_at)
       select 'partner-' || p, sha256(int8send(p * 10000 + n)), now() - n * interval '2 minutes'
       from generate_series(0, 9) p, generate_series(0, 900) n`,
    )
    .simple();

/** Adds the residents, with what maintenance counts of their names, and the partners who read them. */
export const addResidents = async (
  owner: postgres.Sql,
  { residents }: Sizes,
  { others }: Parts,
  onStep: (step: string) => void,
): Promise<void> => {
  await fillResidents(owner, residents, onStep);
  onStep("substring counts");
  await refreshFrequentSubstrings(owner);
  while ((await countSubstrings(owner)) > 0);
  await owner`vacuum (analyze) resident.substring_count`;
  await addPartners(owner);
  await addReader(owner);
  await owner`
    insert into tourism.photo (id, destination_id, url, caption)
    select n, 'destination-' || n / 20, 'https://photos.example/' || n, 'Foto ' || n from generate_series(1, ${others}::int) n`;
  await owner`
    insert into tourism.category (id, name, active) select n::text, 'Kategori ' || n, 'Y' from generate_series(1, 50) n`;
  for (const table of [
    "partner.partner",
    "partner.api_key",
    "resident.read_count",
    "resident.failed_verification",
    "tourism.photo",
  ])
    await owner.unsafe(`vacuum (analyze) ${table}`);
};
