import { visibleText } from "./cell.ts";
import { type Line, parseRecord } from "./csv.ts";
import type { FileColumn } from "./table.ts";

/** The file cannot be imported at all; the message says why, and what to do. */
export class HeaderError extends Error {
  override readonly name = "HeaderError";
}

export interface Layout {
  readonly delimiter: string;
  readonly headers: readonly string[];
  /** For each column of the table the index of its field, -1 if the file does not have it. */
  readonly places: readonly number[];
  /** Headers without a column in the table; their values are not imported. */
  readonly ignored: readonly string[];
}

export interface Header extends Layout {
  /** The header's row in a spreadsheet, from 1. */
  readonly line: number;
  readonly bytesRead: number;
  /** Lines of the header's block behind it. */
  readonly rest: readonly Line[];
}

const delimiters = [",", ";", "\t", "|"];

/** `NO. KK` is `no_kk`. */
const nameOf = (header: string) => header.toLowerCase().replace(/[\s._-]+/g, "_");

const layoutWith = (line: string, delimiter: string, columns: readonly FileColumn[]): Layout => {
  const fields = parseRecord(line, delimiter, false) ?? parseRecord(line, delimiter, true) ?? [];
  const headers = fields.map(visibleText);
  const names = headers.map(nameOf);
  const places = columns.map(({ header, otherHeaders = [] }) =>
    names.includes(header) ? names.indexOf(header) : names.findIndex((name) => otherHeaders.includes(name)),
  );
  return { delimiter, headers, places, ignored: headers.filter((_, i) => !places.includes(i)) };
};

/** Detects the delimiter by the number of columns it finds: spreadsheets write `;` in an Indonesian locale. */
const findLayout = (line: string, columns: readonly FileColumn[], declared: readonly string[]): Layout => {
  const found = ({ places }: Layout) => places.filter((place) => place >= 0).length;
  return [...declared, ...delimiters]
    .map((delimiter) => layoutWith(line, delimiter, columns))
    .reduce((a, b) => (found(b) > found(a) ? b : a));
};

const listMissing = (columns: readonly FileColumn[], { places }: Layout) =>
  columns.filter(({ isOptional }, i) => !isOptional && places[i] === -1).map(({ header }) => header);

/** Names what was found in place of a header, but never the data of a person. */
const describeFound = ({ headers }: Layout): string =>
  headers.some((header) => /\d{8}/.test(header))
    ? "values, and no names of columns"
    : headers
        .filter(Boolean)
        .slice(0, 30)
        .map((header) => header.slice(0, 60))
        .join(", ");

const check = (
  text: string,
  layout: Layout,
  columns: readonly FileColumn[],
  at: Omit<Header, keyof Layout>,
) => {
  if (text.startsWith("PK\u0003\u0004"))
    throw new HeaderError("The file is an Excel workbook. Save it as CSV UTF-8.");
  if (text.includes("\0") || text.includes("\uFFFD"))
    throw new HeaderError("The file is not UTF-8 text. Save it as CSV UTF-8.");
  if (text.includes("\r"))
    throw new HeaderError("The lines of the file end with CR alone. Save it with LF or CRLF line endings.");
  const missing = listMissing(columns, layout);
  if (missing.length > 0) {
    const below = at.rest.findIndex(
      (line) => listMissing(columns, findLayout(line.text, columns, [layout.delimiter])).length === 0,
    );
    throw new HeaderError(
      below >= 0
        ? `Line ${at.line} is not the header: "${describeFound(layout).replace(/[,;|\s]+$/, "")}". The header is in line ${at.line + below + 1}: delete the lines above it.`
        : `The first line must name the columns, but these are missing: ${missing.join(", ")}. ` +
            `Found: ${describeFound(layout)}. Expected:\n${columns.map(({ header }) => header).join(",")}`,
    );
  }
  const names = layout.headers.map(nameOf);
  const repeated = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (repeated) throw new HeaderError(`The first line names column ${repeated} twice.`);
};

/**
 * Finds the header: the first line that is not blank. Excel reads a line such as `sep=;` above it, and does not show it.
 *
 * @throws HeaderError if that line does not name the columns.
 */
export const readHeader = async (
  blocks: AsyncGenerator<Line[]>,
  columns: readonly FileColumn[],
): Promise<Header> => {
  let line = 0;
  const declared: string[] = [];
  for await (const block of { [Symbol.asyncIterator]: () => ({ next: () => blocks.next() }) })
    for (const [i, { text, bytesRead }] of block.entries()) {
      const [, delimiter] = line === 0 ? (/^"?sep=(.)"?[,;|\s]*$/i.exec(text) ?? []) : [];
      if (delimiter && declared.length === 0) {
        declared.push(delimiter);
        continue;
      }
      line += 1;
      if (/^[,;|\s]*$/.test(text)) continue;
      const layout = findLayout(text, columns, declared);
      const at = { line, bytesRead, rest: block.slice(i + 1) };
      check(text, layout, columns, at);
      return { ...layout, ...at };
    }
  throw new HeaderError("The file is empty.");
};
