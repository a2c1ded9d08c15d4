import type postgres from "postgres";
import { withDatabase } from "#lib/db/database.ts";
import type { ResidentRecord } from "#lib/routes/resident.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { explainRefusal, type Reader } from "./refusal.ts";

export interface Page {
  /** From 1. */
  readonly number: number;
  /** Rows, 1 to 100. */
  readonly size: number;
}

/** A step of a walk; it has one of the cursors. */
export interface Step {
  readonly after: string | undefined;
  readonly changedSince: string | undefined;
  /** Rows, 1 to 1,000. */
  readonly size: number;
}

export interface Criteria {
  readonly nik: string | undefined;
  readonly name: string | undefined;
}

/** Null where the partner's agreement lacks the field. */
interface MaskedResident {
  nik: string | null;
  name: string | null;
  motherName: string | null;
  familyCardNumber: string | null;
  address: string | null;
  hamlet: string | null;
  village: string | null;
  district: string | null;
  city: string | null;
  createdAt: string | null;
}

interface Found {
  total: number;
  residents: MaskedResident[];
}

interface FoundStep extends Found {
  number: number;
  /** Of the residents, in the same order; those of another partner differ. */
  ids: string[];
  removed: string[];
  after: string | null;
  changedSince: string | null;
}

const toWire = (resident: MaskedResident): ResidentRecord => ({
  nik_alt: resident.nik,
  nama: resident.name,
  nama_ibu_alt: resident.motherName,
  no_kk_alt: resident.familyCardNumber,
  alamat_alt: resident.address,
  t_dusun_lingkungan: resident.hamlet,
  t_desakel: resident.village,
  t_kec: resident.district,
  t_kabkota: resident.city,
  created_at: resident.createdAt,
});

const readRow = async <T>(reader: Reader, query: (sql: postgres.Sql) => Promise<T[]>): Promise<T> => {
  const [row] = await withDatabase(query).catch(explainRefusal(reader));
  if (!row) throw new Error("the reading function returned no row");
  return row;
};

const readPage = async (page: Page, reader: Reader, query: (sql: postgres.Sql) => Promise<Found[]>) => {
  const { residents, total } = await readRow(reader, query);
  return { data: residents.map(toWire), total, page: page.number };
};

/** Returns one page of all residents, newest first, with the exact total. The database masks the values. */
export const listResidents = (page: Page, reader: Reader) =>
  readPage(
    page,
    reader,
    (sql) => sql<Found[]>`
      select total, residents
      from resident.list(
        ${page.number}, ${page.size}, ${reader.partnerId}, ${reader.keyId}, ${reader.requestId},
        ${reader.purpose}, ${reader.caseReference}, ${reader.userReference})`,
  );

/**
 * Returns the next residents of a walk, the ids of those that were removed, and the next cursor: `after`, or after the last
 * page `changed_since`.
 */
export const walkResidents = async ({ after, changedSince, size }: Step, reader: Reader) => {
  const found = await readRow(
    reader,
    (sql) => sql<FoundStep[]>`
      select total, residents, number, ids, removed, after, changed_since as "changedSince"
      from resident.list(
        1, ${size}, ${reader.partnerId}, ${reader.keyId}, ${reader.requestId},
        ${reader.purpose}, ${reader.caseReference}, ${reader.userReference},
        ${after ?? null}, ${changedSince ?? null})`,
  );
  return {
    data: found.residents.map((resident, place) => ({ id: found.ids[place] ?? "", ...toWire(resident) })),
    total: found.total,
    page: found.number,
    removed: found.removed,
    after: found.after,
    changed_since: found.changedSince,
  };
};

/** Returns one page of the residents that match all given criteria, newest first, with the exact total. */
export const searchResidents = ({ nik, name }: Criteria, page: Page, reader: Reader) =>
  readPage(page, reader, async (sql) => {
    const { version, digest } = await digestTerm();
    return sql<Found[]>`
      select total, residents
      from resident.search(
        ${nik ?? null}, ${name ?? null}, ${page.number}, ${page.size},
        ${reader.partnerId}, ${reader.keyId}, ${reader.requestId},
        ${digest(nik)}, ${digest(name?.toLowerCase())}, ${version},
        ${reader.purpose}, ${reader.caseReference}, ${reader.userReference})`;
  });
