import { createHash, randomUUID } from "node:crypto";
import type postgres from "postgres";
import { newMessageId } from "#lib/channels/whatsapp/whatsapp-channel.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { digestClaim } from "#lib/messenger/outbox/idempotency.ts";
import { storeOnce } from "#lib/messenger/outbox/store.ts";
import { findAddress } from "#lib/messenger/send/number-check.ts";
import { addReader } from "../../steps/residents/reader.ts";
import { deleteOld } from "../../steps/retention.ts";
import { type Cost, city, costsOf, fiveMinutes, type Kind, storedOf } from "./growth-figures.ts";
import { openSending } from "./outbox.ts";
import { printTable, type Result } from "./result.ts";
import { setFullPages, withYearDatabase } from "./year/database.ts";
import { phoneOf } from "./year/message-data.ts";
import { partsOf, type Sizes } from "./year/sizes.ts";
import { addYear } from "./year.ts";

/**
 * How many days of the two years rows stay: see `city.retention()` and `audit.age_limit()` of the database. What a table has of a day or
 * a sender is not listed, nor are keys of sessions that replace those before.
 */
const ofMessage = { "messaging.message": 30, "messaging.payload": 7, "messaging.idempotency": 25 / 24 };
const ofRecipient = {
  "messaging.auth_key": city.days,
  "messaging.contact": city.days,
  "messaging.route": city.days,
  "messaging.number_check": 30,
};

/** One seal after the other, of a part of the views. */
const mostSeals = 200;

const text =
  "Yth. pemohon, dokumen Anda siap diambil di loket 3 Dinas Kependudukan pada jam kerja, Senin sampai Jumat. ";
/** Between those that are known, as the numbers of a city are. */
const phoneOfNew = (person: number): string => `${phoneOf(person)}7`;

/** Of each table, with its partitions. */
const readSizes = async (owner: postgres.Sql): Promise<ReadonlyMap<string, number>> => {
  const rows = await owner<{ name: string; bytes: number }[]>`
    select coalesce(inhparent, c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::float8 as bytes
    from pg_class c join pg_namespace n on n.oid = relnamespace left join pg_inherits on inhrelid = c.oid
    where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema', 'bench')
    group by 1`;
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
};

const vacuum = async (owner: postgres.Sql): Promise<void> => {
  for (const name of (await readSizes(owner)).keys()) await owner.unsafe(`vacuum ${name}`);
};

/** @returns the bytes that the work has added to the write-ahead log. */
const readWal = async (owner: postgres.Sql, work: () => Promise<unknown>): Promise<number> => {
  const [from] = await owner<{ lsn: string }[]>`select pg_current_wal_insert_lsn()::text as lsn`;
  await work();
  const [row] = await owner<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), ${from?.lsn ?? ""}::text::pg_lsn)::float8 as bytes`;
  return row?.bytes ?? 0;
};

const measure = async (owner: postgres.Sql, kind: Kind): Promise<Cost> => {
  await owner`checkpoint`;
  const before = await readSizes(owner);
  let done = 0;
  let checkpoints = 0;
  const wal = await readWal(owner, async () => {
    for (let turn = 0; turn < kind.turns; turn++) {
      done += await kind.run();
      if (done < (checkpoints + 1) * kind.perCheckpoint) continue;
      await owner`checkpoint`;
      checkpoints++;
    }
  });
  await owner`checkpoint`;
  const vacuumWal = await readWal(owner, () => vacuum(owner));
  const bytes = [...(await readSizes(owner))].map(
    ([name, size]) => [name, (size - (before.get(name) ?? 0)) / done] as const,
  );
  console.error(
    `  ${kind.name}: ${done} times, ${Math.round(wal / done)} + ${Math.round(vacuumWal / done)} bytes of WAL`,
  );
  return {
    bytes: Object.fromEntries(bytes.filter(([, each]) => Math.abs(each) >= 1)),
    wal: wal / done,
    vacuumWal: vacuumWal / done,
  };
};

const openMessaging = async (sql: postgres.Sql) => {
  const { send, keys } = await openSending(sql);
  /** Accepts a message with a key, looks its number up and sends it until it was read. */
  const sendTo = async (sender: string, phone: string): Promise<number> => {
    const submission = Submission.parse({
      ...{ sender, kind: "text", phone, text, idempotency_key: randomUUID() },
    });
    const claim = digestClaim(submission.idempotency_key ?? "", submission, undefined);
    await storeOnce(sql, [{ id: newMessageId(), submission, mediaId: null, claim }]);
    await findAddress(sql, 1, { findAddress: async (known) => `${known}@s.whatsapp.net` }, phone);
    await send();
    return 1;
  };
  /** What the platform's library learns of a number beside its session: its other identity, devices, and a token. */
  const learn = (phone: string) =>
    keys.set({
      "lid-mapping": { [phone]: `2${phone}`, [`2${phone}_reverse`]: phone },
      "device-list": { [phone]: ["0"], [`2${phone}`]: ["0"] },
      tctoken: { [`2${phone}@lid`]: { token: Buffer.alloc(16, 7), timestamp: "1790000000" } },
    });
  return { sendTo, learn };
};

/**
 * Reads residents: of twenty, five list ten, the half of these the first ones; three search for a name, nine for a number, and three
 * verify a name.
 */
const openReading = async (owner: postgres.Sql, sql: postgres.Sql, { residents }: Sizes) => {
  await addReader(owner, "health-agency", "key-health-agency");
  const known = await owner<{ nik: string; name: string }[]>`
    select nik, name from resident.resident where id % ${Math.ceil(residents / 5_000)} = 0 order by md5(nik)`;
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return async (turn: number): Promise<number> => {
    const { nik, name } = known[turn % known.length] ?? { nik: "", name: "" };
    const reader = sql`'health-agency', 'key-health-agency', ${randomUUID()}`;
    const stated = sql`'SERVICE', null, ${`clerk-${turn % 50}`}`;
    const search = (number: string | null, part: string | null) => sql`
      select resident.search(${number}, ${part}, 1, 10, ${reader}, ${number && digest(number)}, ${part && digest(part)}, 1, ${stated})`;
    const of = turn % 20;
    if (of < 5) {
      const page = of < 3 ? 1 : 1 + ((turn * 31) % Math.ceil(residents / 10));
      await sql`select resident.list(${page}, 10, ${reader}, ${stated})`;
    } else if (of < 8) await search(null, name.split(" ")[0]?.toLowerCase() ?? "");
    else if (of < 17) await search(nik, null);
    else
      await sql`
        select resident.verify(${nik}, ${JSON.stringify({ name })}::text::json, ${reader}, ${digest(nik)}, 1, ${stated})`;
    return 1;
  };
};

/** Lets the messages of a sender become so old that all that is stored for them is deleted. */
const age = async (owner: postgres.Sql, sender: string): Promise<void> => {
  await owner`
    update messaging.payload p set composed_at = composed_at - interval '31 days'
    from messaging.message m where m.seq = p.seq and m.sender = ${sender}`;
  await owner`
    update messaging.idempotency i set created_at = created_at - interval '31 days'
    from messaging.message m where m.id = i.message_id and m.sender = ${sender}`;
  await owner`
    update messaging.message set accepted_at = accepted_at - interval '31 days', not_before = not_before - interval '31 days'
    where sender = ${sender}`;
  await vacuum(owner);
};

/**
 * Measures how many bytes stay in the database, and how many are written into its write-ahead log, for a message from its acceptance
 * to its deletion, a view and a seal: by the statements of the product, on a database as it is after a year. All is done twice. First,
 * the log has each page as a whole that changes first after a checkpoint, as that of an RDS instance. Then it has changes alone, as
 * Aurora's.
 *
 * @param options sizes, and how many messages and views are measured: a vacuum follows after as many.
 */
export const benchGrowth = ({ sample, ...sizes }: Sizes & { readonly sample: number }): Promise<Result> =>
  withYearDatabase(async ({ owner, connectAs }) => {
    await addYear({ owner, connectAs }, sizes);
    const [messenger, maintenance] = [connectAs("messenger"), connectAs("maintenance")];
    const { sendTo, learn } = await openMessaging(messenger);
    const read = await openReading(owner, connectAs("resident"), sizes);
    const { days, recipients, messagesPerDay, viewsPerDay } = city;
    const known = Math.floor(partsOf(sizes).persons / 2);
    let [sender, person, newPerson, view] = ["", 0, 0, 0];
    const ofMessages = {
      times: messagesPerDay * days - recipients,
      perCheckpoint: messagesPerDay / fiveMinutes.ofOffice,
      turns: sample,
      kept: ofMessage,
    };
    const kinds: readonly Kind[] = [
      // the first account knows those with even numbers
      {
        ...{ name: "message", ...ofMessages },
        run: () => sendTo(sender, phoneOf(2 * ((person++ * 7_919) % known))),
      },
      {
        ...{ name: "first message to a number", ...ofMessages, times: recipients },
        kept: { ...ofMessage, ...ofRecipient },
        run: async () => {
          const phone = phoneOfNew((newPerson++ * 7_919) % (2 * known));
          await learn(phone);
          return sendTo(sender, phone);
        },
      },
      {
        ...{ name: "view", times: viewsPerDay * days, turns: sample },
        perCheckpoint: viewsPerDay / fiveMinutes.ofOffice,
        kept: { "audit.resident_read": days },
        run: () => read(view++),
      },
      {
        ...{ name: "seal", times: fiveMinutes.ofDay * days, perCheckpoint: 1, turns: mostSeals },
        kept: { "audit.seal": days },
        run: async () => {
          const [seal] = await maintenance<{ id: string }[]>`
            select id::text from audit.seal_reads(audit.find_settled_id(), ${Math.ceil(sample / mostSeals)}, 1)`;
          if (seal) await maintenance`select audit.record_anchor(${seal.id})`;
          return seal ? 1 : 0;
        },
      },
    ];
    const countMessages = async () =>
      (await owner<{ rows: number }[]>`select count(*)::int as rows from messaging.message`)[0]?.rows ?? 0;
    const deletion: Kind = {
      ...{ name: "deletion of a message", ...ofMessages, turns: 1, kept: {} },
      times: messagesPerDay * days,
      run: async () => {
        const before = await countMessages();
        await deleteOld(maintenance);
        return before - (await countMessages());
      },
    };
    const costs: Record<"paged" | "bare", Cost[]> = { paged: [], bare: [] };
    const senders = { paged: "api:sender-1", bare: "api:sender-2" };
    await vacuum(owner);
    for (const way of ["paged", "bare"] as const) {
      await setFullPages(owner, way === "paged");
      sender = senders[way];
      for (const kind of kinds) costs[way].push(await measure(owner, kind));
    }
    // what the year has left is not measured
    await deleteOld(maintenance);
    for (const way of ["paged", "bare"] as const) {
      await age(owner, senders[way]);
      await setFullPages(owner, way === "paged");
      costs[way].push(await measure(owner, deletion));
    }
    const rows = costsOf([...kinds, deletion], costs);
    const stored = storedOf(kinds, costs);
    printTable(rows.map(({ detail, ...row }) => row));
    printTable(stored);
    const { residents, messages, audits } = sizes;
    return { bench: "growth", figures: { residents, messages, audits, sample, rows, stored } };
  });
