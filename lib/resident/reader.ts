import type postgres from "postgres";
import { withDatabase } from "#lib/db/database.ts";
import type { Claims, ResidentRecord } from "#lib/routes/resident.ts";
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

/** The columns that can be verified, by the field of the request. */
const columns = {
  p_nama: "name",
  p_nama_ibu: "mother_name",
  p_no_kk: "family_card_number",
  p_t_dusun_lingkungan: "hamlet",
  p_t_desakel: "village",
  p_t_kec: "district",
  p_t_kabkota: "city",
} as const satisfies Record<Exclude<keyof Claims, "p_nik">, string>;

type Column = (typeof columns)[keyof typeof columns];
type Answers = Partial<Record<keyof typeof columns, "match" | "no_match">>;

/**
 * Says of each claim whether it is what the register has for the NIK. The database compares and returns no value.
 *
 * @throws ApiError 429 when there were too many wrong claims about the NIK, or by the partner.
 */
export const verifyClaims = async ({ p_nik, ...claims }: Claims, reader: Reader): Promise<Answers> => {
  const { version, digest } = await digestTerm();
  const fields = (Object.keys(columns) as (keyof typeof columns)[]).filter((field) => claims[field]);
  const stated = JSON.stringify(Object.fromEntries(fields.map((field) => [columns[field], claims[field]])));
  const [row] = await withDatabase(
    (sql) => sql<{ answers: Partial<Record<Column, boolean>> }[]>`
      select resident.verify(
        ${p_nik}, ${stated}::text::json, ${reader.partnerId}, ${reader.keyId}, ${reader.requestId},
        ${digest(p_nik)}, ${version}, ${reader.purpose}, ${reader.caseReference}, ${reader.userReference}) as answers`,
  ).catch(explainRefusal(reader));
  return Object.fromEntries(
    fields.map((field) => [field, row?.answers[columns[field]] ? "match" : "no_match"]),
  );
};
