import { withDatabase } from "#lib/db/database.ts";
import type { Claims } from "#lib/routes/resident.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { explainRefusal, type Reader } from "./refusal.ts";

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
 * @throws Fault 429 when there were too many wrong claims about the NIK, or by the partner.
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
