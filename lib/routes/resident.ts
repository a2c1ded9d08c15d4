// wire → code: penduduk resident; nik_alt masked nik; nama name; nama_ibu_alt masked mother's name;
// no_kk_alt masked family-card number; alamat_alt masked address; t_dusun_lingkungan hamlet;
// t_desakel village; t_kec district; t_kabkota city; a field of a request is p_ and the name of the response's field
// without _alt
import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { printable } from "./fields.ts";
import { route } from "./route.ts";

const maxPageSize = 100;
const maxNameLength = 100;
/** The longest name that the database takes. */
const maxClaimLength = 500;

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

const number = (field: string) => {
  const error = `${field} must be a string of exactly 16 digits`;
  return z.pipe(z.string({ error }).check(z.regex(/^(\s*|\d{16})$/, { error })), blankAsAbsent);
};

const text = (field: string, maxLength: number) => {
  const error = `${field} must be a string of at most ${maxLength} characters without control characters`;
  return z.pipe(
    z.string({ error }).check(z.maxLength(maxLength, { error }), z.regex(printable, { error })),
    blankAsAbsent,
  );
};

const eitherError = "Send p_nik (16 digits) or p_nama (part of a name), or both";

const Criteria = z
  .object(
    {
      p_nik: z.optional(number("p_nik")),
      p_nama: z.optional(text("p_nama", maxNameLength)),
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

const requiredNikError = "p_nik must be a string of exactly 16 digits";
const claim = (field: string) => z.optional(text(field, maxClaimLength));

const Claims = z
  .object(
    {
      p_nik: z.string({ error: requiredNikError }).check(z.regex(/^\d{16}$/, { error: requiredNikError })),
      p_nama: claim("p_nama"),
      p_nama_ibu: claim("p_nama_ibu"),
      p_no_kk: z.optional(number("p_no_kk")),
      p_t_dusun_lingkungan: claim("p_t_dusun_lingkungan"),
      p_t_desakel: claim("p_t_desakel"),
      p_t_kec: claim("p_t_kec"),
      p_t_kabkota: claim("p_t_kabkota"),
    },
    { error: 'The body must be a JSON object, for example {"p_nik": "9971012345670004", "p_nama": "Siti"}' },
  )
  .check(
    z.refine(({ p_nama, p_nama_ibu, p_no_kk }) => [p_nama, p_nama_ibu, p_no_kk].some(Boolean), {
      path: ["p_nama"],
      error:
        "Send at least one value to verify: p_nama, p_nama_ibu or p_no_kk; areas only together with one of them",
    }),
  );
export type Claims = z.infer<typeof Claims>;

const Answer = z.optional(z.enum(["match", "no_match"]));
const Verification = z.object({
  data: z.object({
    p_nama: Answer,
    p_nama_ibu: Answer,
    p_no_kk: Answer,
    p_t_dusun_lingkungan: Answer,
    p_t_desakel: Answer,
    p_t_kec: Answer,
    p_t_kabkota: Answer,
  }),
});

const shown = z.nullable(z.string());

/**
 * A resident as the contract shows it: `nama` and the areas in plain text, the rest masked. A field that the partner's
 * agreement does not have is null.
 */
export const ResidentRecord = z.object({
  nik_alt: shown,
  nama: shown,
  nama_ibu_alt: shown,
  no_kk_alt: shown,
  alamat_alt: shown,
  t_dusun_lingkungan: shown,
  t_desakel: shown,
  t_kec: shown,
  t_kabkota: shown,
  created_at: shown,
});
export type ResidentRecord = z.infer<typeof ResidentRecord>;

const ResidentPage = z.object({ data: z.array(ResidentRecord), total: z.int(), page: z.int() });

const referenceError = (header: string) =>
  `${header} must be sent once, with 1 to 100 printable ASCII characters and without 15 digits in a row`;
const reference = (header: string) => {
  const error = referenceError(header);
  return z.optional(
    z.string({ error }).check(
      z.regex(/^[ -~]{1,100}$/, { error }),
      z.refine((text) => !/\d{15}/.test(text), { error }),
    ),
  );
};

/** What a partner reads for; the database knows which purposes its agreement has. */
const PurposeHeaders = z.pipe(
  z.object({
    "x-purpose": z.optional(z.string()),
    "x-case": reference("X-Case"),
    "x-user": reference("X-User"),
  }),
  z.transform((headers) => ({
    purpose: headers["x-purpose"] ?? null,
    caseReference: headers["x-case"] ?? null,
    userReference: headers["x-user"] ?? null,
  })),
);
export type Purpose = z.infer<typeof PurposeHeaders>;

const shared = {
  method: "POST",
  auth: { kind: "apiKey", scope: "resident:read" },
  // the contract leaves the place of the key open; in the query it gives no access
  ignoredQuery: ["apikey"],
  headers: PurposeHeaders,
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
  failures: ["tooManyResidents"],
  secrets: { DATABASE_SECRET_ID: "database/resident" },
});

export const searchResidents = route({
  ...shared,
  fn: "resident/search",
  path: "/v1/penduduk/search",
  summary: "Searches residents by identity number, name or both",
  body: Criteria,
  failures: ["nameNotAgreed", "tooManyUnknownNumbers", "tooManyResidents"],
});

export const verifyResident = route({
  ...shared,
  fn: "resident/verify",
  path: "/v1/penduduk/verify",
  summary: "Says whether values that a citizen states match the register",
  auth: { kind: "apiKey", scope: "resident:verify" },
  body: Claims,
  reply: Verification,
  failures: ["tooManyFailedVerifications", "tooManyResidents"],
});
