import * as z from "zod/mini";
import { expectShape, expectStatus, NothingToSee } from "../mismatch.ts";
import type { Answer, System } from "../system.ts";

export const listPath = "/v1/penduduk";
export const searchPath = "/v1/penduduk/search";
export const needs = ["apiKey"] as const;

const maskedNumber = z.string().check(z.regex(/^\d{4}\*{10}\d{2}$/));
const Resident = z.strictObject({
  nik_alt: maskedNumber,
  nama: z.string(),
  nama_ibu_alt: z.string().check(z.regex(/^\s*(\S\*\*\*\s*)*$/u)),
  no_kk_alt: maskedNumber,
  alamat_alt: z.string().check(z.regex(/^.{0,4}\*{6}$/su)),
  t_dusun_lingkungan: z.string(),
  t_desakel: z.string(),
  t_kec: z.string(),
  t_kabkota: z.string(),
  created_at: z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)),
});
const Page = z.strictObject({ data: z.array(Resident), total: z.int(), page: z.int() });

export const list = (
  system: System,
  body?: unknown,
  about = "no body",
  headers: Record<string, string> = {},
) => system.ask({ as: "partner", path: listPath, body, about, headers });
export const search = (system: System, body?: unknown, about = "no body") =>
  system.ask({ as: "partner", path: searchPath, body, about });

export const readPage = (answer: Answer) => {
  expectStatus(answer, 200);
  return expectShape(answer, Page);
};

/** The newest rows; nobody's data is looked at beyond what the rule is about. */
export const readNewest = async (system: System, page_size = 10) => {
  const answer = await list(system, { page_size }, `page_size ${page_size}`);
  const page = readPage(answer);
  if (page.total === 0) throw new NothingToSee("there are no residents: npm run import -- residents");
  return { ...page, answer };
};
