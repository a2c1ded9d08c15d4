// A process whose database backend is killed: it writes residents and keeps their counts up until then, and says
// on its first line which backend does the upkeep. Alone in a process, as postgres 3.4.9 may write into a socket
// that is gone, which ends it.
import postgres from "postgres";
import { applyChanges, countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";

const [url = ""] = process.argv.slice(2);
const connect = () => postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
const [upkeep, writing] = [connect(), connect()];

const transaction = `
  begin;
  update resident.resident set created_at = created_at + interval '1 day' where id % 7 = 0;
  insert into resident.resident (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
    select n, '9999010101009999', 'SITI NUR', 'IBU', 'JL', n, 'V', 'K', 'C'
    from (select '98' || lpad((coalesce(max(id), 0) + g)::text, 14, '0') as n from resident.resident,
      generate_series(1, 20) g group by g) rows
    on conflict do nothing;
  delete from resident.resident where id % 11 = 0;
  commit`;

const write = async () => {
  for (;;) await writing.unsafe(transaction).simple();
};

const keepUp = async () => {
  for (let round = 0; ; round++) {
    await upkeep`update resident.substring_generation set row_count = 0`;
    await refreshFrequentSubstrings(upkeep);
    await applyChanges(upkeep);
    await upkeep`select resident.split_block(32, 4)`;
    await countSubstrings(upkeep);
    if (round % 4 === 3) await upkeep`select resident.rebuild_blocks(64)`;
  }
};

const [backend] = await upkeep<{ pid: number }[]>`select pg_backend_pid() as pid`;
process.stdout.write(`${backend?.pid}\n`);
await Promise.all([write(), keepUp()]);
