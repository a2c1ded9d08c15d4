import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { openImport } from "#lib/import/file.ts";
import { acceptAny, type FileColumn } from "#lib/import/table.ts";
import { bareDigits, homeCode, isPhone, maskPhone, phoneRule } from "#lib/messaging/phone.ts";
import { nameCountry, type Reading, readPhone } from "#lib/messaging/phone-reading.ts";
import { type MessageClass, maxPlanned } from "#lib/messaging/submission.ts";
import { RunError } from "./run.ts";
import { listOptional, listRules, type Template } from "./template.ts";

/** A line of a file of recipients, not validated. */
export interface BulkLine {
  /** From 1, which is the header. */
  readonly line: number;
  /** Digits with country code; of a number that is not used, what is in the file. */
  readonly phone: string;
  /** That of the number. */
  readonly country?: Pick<Reading, "country" | "region"> | undefined;
  /** By the names of the template's values; blank optional ones are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** Why the line is not used. */
  readonly problem?: string | undefined;
  readonly problemKind?: "invalid number" | "duplicate" | "invalid values" | undefined;
}

/** A file of recipients, to be sent once under its name. */
export interface Bulk {
  /** The same name continues a run. */
  readonly name: string;
  /** Has the class in which it is sent. */
  readonly template: { readonly name: string } & Template;
  readonly lines: readonly BulkLine[];
  /** The start of the digest of the lines. */
  readonly file: string;
}

/** What an operator says about a file. */
export interface BulkOrder {
  readonly template: Bulk["template"];
  readonly class: MessageClass;
  /** By default it follows from the template and what the file contains, so that the same file is sent once. */
  readonly name?: string | undefined;
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
const readNumber = (
  cell: string,
  named: string | undefined,
): Pick<BulkLine, "phone" | "country" | "problem" | "problemKind"> => {
  const problemKind = "invalid number";
  const countries = named === undefined ? [] : [named.replace(/^\+/, "")];
  const read = readPhone(cell, countries);
  if ("problem" in read) return { phone: cell, problem: read.problem, problemKind };
  const { phone, country } = read;
  if ((countries[0] ?? homeCode()) === country)
    return isPhone(phone) ? { phone, country: read } : { phone, problem: phoneRule, problemKind };
  const problem = `phone is a number of ${nameCountry(read)}; to send to it, write ${country} in the column country`;
  return { phone, problem, problemKind };
};

/** Rejects all but the first line of each number. */
const rejectDuplicates = (lines: readonly BulkLine[]): BulkLine[] => {
  const first = new Map<string, number>();
  return lines.map((one) => {
    const earlier = first.get(one.phone);
    if (one.problem !== undefined) return one;
    if (earlier !== undefined)
      return { ...one, problem: `the number is on line ${earlier}`, problemKind: "duplicate" };
    first.set(one.phone, one.line);
    return one;
  });
};

/** Masks what a file has for a number: of a wrong one the first digits say what is wrong. Anything else is masked as a whole. */
export const maskCell = (cell: string): string => {
  const digits = bareDigits(cell);
  return isPhone(cell) || !/^\d{5,15}$/.test(digits)
    ? maskPhone(cell)
    : `${digits.slice(0, 4)}${"•".repeat(digits.length - 4)}`;
};

/** Returns the same for the same numbers and values, however they are written in the file. */
const digestLines = (lines: readonly BulkLine[]): string => {
  const hash = createHash("sha256");
  for (const { phone, values } of lines) hash.update(JSON.stringify([phone, values])).update("\n");
  return hash.digest("hex").slice(0, 12);
};

/**
 * Reads a CSV file with one recipient per line: `phone`, a column for each value of the template, and `country` for numbers abroad.
 *
 * @returns it, and the columns that the template does not have.
 * @throws HeaderError if a column is missing; RunError for more lines than can be planned.
 */
export const readBulk = async (
  input: Readable,
  { template, class: kind, name }: BulkOrder,
): Promise<{ readonly bulk: Bulk; readonly ignored: readonly string[] }> => {
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
        ...readNumber(phone, isValue ? undefined : country),
        values: isValue ? rest : others,
      });
    }
    for (const { line, reason: problem } of rejections)
      lines.push({ line, phone: "", values: {}, problem, problemKind: "invalid values" });
    if (lines.length > maxPlanned)
      throw new RunError(`the file has more than ${maxPlanned} recipients; split it`);
  }
  lines.sort((a, b) => a.line - b.line);
  const file = digestLines(lines);
  return {
    bulk: {
      name: name ?? `${template.name}-${file}`,
      template: { ...template, class: kind },
      lines: rejectDuplicates(lines),
      file,
    },
    ignored,
  };
};
