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

const readPage = async (page: Page, reader: Reader, query: (sql: postgres.Sql) => Promise<Found[]>) => {
  const [found] = await withDatabase(query).catch(explainRefusal(reader));
  if (!found) throw new Error("the reading function returned no row");
  return { data: found.residents.map(toWire), total: found.total, page: page.number };
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
