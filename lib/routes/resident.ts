// wire → code: penduduk resident; nik_alt masked nik; nama name; nama_ibu_alt masked mother's name;
// no_kk_alt masked family-card number; alamat_alt masked address; t_dusun_lingkungan hamlet;
// t_desakel village; t_kec district; t_kabkota city
import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/faults/envelope.ts";
import { printable } from "./printable.ts";
import { route } from "./route.ts";

const maxPageSize = 100;
const maxNameLength = 100;

const count = (field: string, maximum: number, fallback: number) => {
  const range = maximum === Number.MAX_SAFE_INTEGER ? "of at least 1" : `from 1 to ${maximum}`;
  const error = `${field} must be a whole number ${range}, without quotes, for example ${fallback}`;
  return z._default(z.int({ error }).check(z.minimum(1, { error }), z.maximum(maximum, { error })), fallback);
};

const paging = {
  page_number: count("page_number", Number.MAX_SAFE_INTEGER, 1),
  page_size: count("page_size", maxPageSize, 10),
};

const jsonObject = { error: 'The body must be a JSON object, for example {"page_number": 1}' };

const blankAsAbsent = z.transform((value: string) => {
  const text = value.normalize("NFC").trim();
  return text === "" ? undefined : text;
});

const nikError = "p_nik must be a string of exactly 16 digits";
const nameError = `p_nama must be a string of at most ${maxNameLength} characters without control characters`;
const eitherError = "Send p_nik (16 digits) or p_nama (part of a name), or both";

const Criteria = z
  .object(
    {
      p_nik: z.optional(
        z.pipe(
          z.string({ error: nikError }).check(z.regex(/^(\s*|\d{16})$/, { error: nikError })),
          blankAsAbsent,
        ),
      ),
      p_nama: z.optional(
        z.pipe(
          z
            .string({ error: nameError })
            .check(
              z.maxLength(maxNameLength, { error: nameError }),
              z.regex(printable, { error: nameError }),
            ),
          blankAsAbsent,
        ),
      ),
      ...paging,
    },
    jsonObject,
  )
  .check(
    z.refine(({ p_nik, p_nama }) => p_nik !== undefined || p_nama !== undefined, {
      path: ["p_nik"],
      error: eitherError,
    }),
  );

/** A resident as the contract shows it: `nama` and the areas in plain text, the rest masked. */
const ResidentRecord = z.object({
  nik_alt: z.string(),
  nama: z.string(),
  nama_ibu_alt: z.string(),
  no_kk_alt: z.string(),
  alamat_alt: z.string(),
  t_dusun_lingkungan: z.string(),
  t_desakel: z.string(),
  t_kec: z.string(),
  t_kabkota: z.string(),
  created_at: z.string(),
});
export type ResidentRecord = z.infer<typeof ResidentRecord>;

const ResidentPage = z.object({ data: z.array(ResidentRecord), total: z.int(), page: z.int() });

const shared = {
  method: "POST",
  auth: { kind: "apiKey", scope: "resident:read" },
  // the contract leaves the place of the key open; in the query it gives no access
  ignoredQuery: ["apikey"],
  reply: ResidentPage,
  errors: integrationEnvelope,
  secrets: { DATABASE_SECRET_ID: "database/resident", PEPPER_SECRET_ID: "audit-pepper" },
  timeoutSeconds: 10,
  memoryMb: 512,
} as const;

export const listResidents = route({
  ...shared,
  fn: "resident/list",
  path: "/v1/penduduk",
  summary: "Lists residents, newest first",
  body: z.object(paging, jsonObject),
  secrets: { DATABASE_SECRET_ID: "database/resident" },
});

export const searchResidents = route({
  ...shared,
  fn: "resident/search",
  path: "/v1/penduduk/search",
  summary: "Searches residents by identity number, name or both",
  body: Criteria,
  faults: ["tooManyMisses"],
});
