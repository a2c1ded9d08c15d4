import * as z from "zod/mini";
import { expectShape, expectStatus } from "../mismatch.ts";
import { Skipped } from "../skipped.ts";
import type { Answer, System } from "../system.ts";

export const listPath = "/v1/penduduk";
export const searchPath = "/v1/penduduk/search";
export const needs = ["apiKey"] as const;

/** Accepts any type: one case checks that it is an integer, so that a wrong type fails only that case. */
const number = z.pipe(z.union([z.number(), z.string()]), z.transform(Number));
const Page = z.object({
  data: z.array(z.object({ nama: z._default(z.string(), ""), created_at: z._default(z.string(), "") })),
  total: number,
  page: number,
});

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

/** The newest rows. */
export const readNewest = async (system: System, page_size = 10) => {
  const answer = await list(system, { page_size }, `page_size ${page_size}`);
  const page = readPage(answer);
  if (page.total === 0) throw new Skipped("there are no residents; run: npm run city -- import residents");
  return { ...page, answer };
};
