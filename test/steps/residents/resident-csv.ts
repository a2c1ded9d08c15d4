import type { Content } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";

/** The first line of a file of residents. */
export const residentHeader = residentImport.columns.map(({ header }) => header).join(",");

/** A file for `npm run city -- import`; no value may need quotes. */
export const residentCsv = (rows: readonly Content[]): string =>
  [residentHeader, ...rows.map(({ values }) => values.join(","))].map((line) => `${line}\n`).join("");
