import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { openImport } from "#lib/import/file.ts";
import { acceptAny, type FileColumn } from "#lib/import/table.ts";
import { homeCode } from "#lib/messaging/phone.ts";
import { nameCountry, type Reading, readPhone } from "#lib/messaging/phone-reading.ts";
import { maxPlanned } from "#lib/messaging/submission.ts";
import { RunError } from "./dispatch.ts";
import { listOptional, listRules, type Template } from "./template.ts";

/** A line of a file of recipients, not validated. */
export interface BulkLine {
  /** From 1, which is the header. */
  readonly line: number;
  /** Digits with country code; of a number that is not used, what is in the file. */
  readonly phone: string;
  /** Why the number is not used. */
  readonly phoneProblem?: string | undefined;
  /** That of the number. */
  readonly country?: Pick<Reading, "country" | "region"> | undefined;
  /** By the names of the template's values; blank optional ones are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** Why the line cannot be read. */
  readonly problem?: string;
}

export interface BulkFile {
  readonly lines: readonly BulkLine[];
  /** Columns that the template does not have. */
  readonly ignored: readonly string[];
  /** The same for the same numbers and values, however they are written in the file. */
  readonly digest: string;
}

/** What Indonesian exports call these columns. */
const otherHeaders: Readonly<Record<string, readonly string[]>> = {
  phone: [
    ...["no_hp", "nomor_hp", "hp", "no_handphone", "handphone", "no_wa", "nomor_wa", "wa", "whatsapp"],
    ...["no_telepon", "nomor_telepon", "no_telp", "telepon", "telp", "nomor", "phone_number"],
  ],
  name: ["nama", "nama_lengkap", "nama_warga"],
};

const columnsOf = (template: Template): FileColumn[] => {
  const optional = listOptional(template);
  const columnOf = (header: string): FileColumn => ({
    header,
    otherHeaders: otherHeaders[header] ?? [],
    check: acceptAny,
    ...(optional.includes(header) && { whenAbsent: "null", isOptional: true as const }),
  });
  const columns = ["phone", ...Object.keys(listRules(template))].map(columnOf);
  return [...columns, ...(columns.some(({ header }) => header === "country") ? [] : [countryColumn])];
};

/** Optional: the country code of a number abroad, which is not sent to without it. */
const countryColumn = {
  header: "country",
  check: acceptAny,
  whenAbsent: "null",
  isOptional: true,
} as const satisfies FileColumn;

/** Reads a number, which may be one abroad if its line names the country. */
const readRecipient = (
  cell: string,
  named: string | undefined,
): Pick<BulkLine, "phone" | "phoneProblem" | "country"> => {
  const countries = named === undefined ? [] : [named.replace(/^\+/, "")];
  const read = readPhone(cell, countries);
  if ("problem" in read) return { phone: cell, phoneProblem: read.problem };
  const { phone, country } = read;
  if ((countries[0] ?? homeCode()) === country) return { phone, country: read };
  const phoneProblem = `phone is a number of ${nameCountry(read)}; to send to it, write ${country} in the column country`;
  return { phone, phoneProblem };
};

const digestLines = (lines: readonly BulkLine[]): string => {
  const hash = createHash("sha256");
  for (const { phone, values } of lines) hash.update(JSON.stringify([phone, values])).update("\n");
  return hash.digest("hex");
};

/**
 * Reads a CSV file with one recipient per line: `phone`, a column for each value of the template, and `country` for numbers abroad.
 *
 * @throws HeaderError if a column is missing; RunError for more lines than can be planned.
 */
export const readBulkFile = async (input: Readable, template: Template): Promise<BulkFile> => {
  const columns = columnsOf(template);
  const { ignored, blocks } = await openImport(input, { columns });
  const lines: BulkLine[] = [];
  for await (const { rows, rejections } of blocks) {
    for (const { line, values } of rows) {
      const cells = columns.flatMap(({ header }, place) => {
        const value = values[place];
        return typeof value === "string" ? [[header, value] as const] : [];
      });
      const { phone = "", ...rest } = Object.fromEntries(cells);
      const { [countryColumn.header]: country, ...others } = rest;
      const isValue = columns.at(-1) !== countryColumn;
      lines.push({
        line,
        ...readRecipient(phone, isValue ? undefined : country),
        values: isValue ? rest : others,
      });
    }
    for (const { line, reason } of rejections) lines.push({ line, phone: "", values: {}, problem: reason });
    if (lines.length > maxPlanned)
      throw new RunError(`the file has more than ${maxPlanned} recipients; split it`);
  }
  lines.sort((a, b) => a.line - b.line);
  return { lines, ignored, digest: digestLines(lines) };
};
