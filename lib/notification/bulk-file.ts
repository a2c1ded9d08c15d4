import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { openImport } from "#lib/import/file.ts";
import { acceptAny, type FileColumn } from "#lib/import/table.ts";
import { readLocalNumber } from "#lib/messaging/phone.ts";
import { maxPlanned } from "#lib/messaging/submission.ts";
import { RunError } from "./dispatch.ts";
import { listOptional, listRules, type Template } from "./template.ts";

/** A line of a file of recipients, not validated. */
export interface BulkLine {
  /** From 1, which is the header. */
  readonly line: number;
  /** Digits with country code, if it is a number. */
  readonly phone: string;
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

const columnsOf = (template: Template): FileColumn[] => {
  const optional = listOptional(template);
  const columnOf = (header: string): FileColumn => ({
    header,
    check: acceptAny,
    ...(optional.includes(header) && { whenAbsent: "null", isOptional: true as const }),
  });
  return ["phone", ...Object.keys(listRules(template))].map(columnOf);
};

const digestLines = (lines: readonly BulkLine[]): string => {
  const hash = createHash("sha256");
  for (const { phone, values } of lines) hash.update(JSON.stringify([phone, values])).update("\n");
  return hash.digest("hex");
};

/**
 * Reads a CSV file with one recipient per line: `phone`, and a column for each value of the template.
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
      lines.push({ line, phone: readLocalNumber(phone), values: rest });
    }
    for (const { line, reason } of rejections) lines.push({ line, phone: "", values: {}, problem: reason });
    if (lines.length > maxPlanned)
      throw new RunError(`the file has more than ${maxPlanned} recipients; split it`);
  }
  lines.sort((a, b) => a.line - b.line);
  return { lines, ignored, digest: digestLines(lines) };
};
