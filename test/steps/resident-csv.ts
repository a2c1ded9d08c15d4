import type { Content } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";

/** The first line of a file of residents. */
export const residentHeader = residentImport.columns.map(({ header }) => header).join(",");

/** A file as `npm run import` takes it; no value may have anything to quote. */
export const residentCsv = (rows: readonly Content[]): string =>
  [residentHeader, ...rows.map(({ values }) => values.join(","))].map((line) => `${line}\n`).join("");
