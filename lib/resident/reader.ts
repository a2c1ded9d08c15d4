import type postgres from "postgres";
import { withDatabase } from "#lib/db/database.ts";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyMisses } from "#lib/faults/table.ts";
import type { Partner } from "#lib/http/caller.ts";
import { log } from "#lib/log.ts";
import type { ResidentRecord } from "#lib/routes/resident.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";

export interface Page {
  /** From 1. */
  readonly number: number;
  /** Rows, 1 to 100. */
  readonly size: number;
}

/** The caller, for the audit row that the database writes with every read. */
export interface Reader extends Pick<Partner, "partnerId" | "keyId"> {
  readonly requestId: string;
}

export interface Criteria {
  readonly nik: string | undefined;
  readonly name: string | undefined;
}

interface MaskedResident {
  nik: string;
  name: string;
  motherName: string;
  familyCardNumber: string;
  address: string;
  hamlet: string;
  village: string;
  district: string;
  city: string;
  createdAt: string;
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

/** SQLSTATE of a partner that has searched for too many numbers that no resident has. */
const tooManyMissesState = "MI429";

const readPage = async (page: Page, reader: Reader, query: (sql: postgres.Sql) => Promise<Found[]>) => {
  const [found] = await withDatabase(query).catch((error: { cause?: { code?: string } }) => {
    if (error.cause?.code !== tooManyMissesState) throw error;
    // an alarm counts these lines
    const { partnerId, keyId, requestId } = reader;
    log.warn("too many misses", { partner_id: partnerId, key_id: keyId, request_id: requestId });
    throw new Fault(tooManyMisses);
  });
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
      from resident.list(${page.number}, ${page.size}, ${reader.partnerId}, ${reader.keyId}, ${reader.requestId})`,
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
        ${digest(nik)}, ${digest(name?.toLowerCase())}, ${version})`;
  });
