import type { Readable } from "node:stream";
import { type CsvRecord, RecordReader } from "./csv.ts";
import { type Line, maxLineLength, readLines } from "./lines.ts";
import type { FileColumn, Rejection, Row } from "./table.ts";

/** The file cannot be imported at all, because its first line is not a usable header. */
export class HeaderError extends Error {
  override readonly name = "HeaderError";
}

interface Block {
  readonly rows: readonly Row[];
  readonly rejections: readonly Rejection[];
  /** Bytes of the file read so far. */
  readonly bytesRead: number;
}

export interface ImportFile {
  /** Header fields as in the file. */
  readonly headers: readonly string[];
  /** Headers without a column in the table; their values are not imported. */
  readonly ignored: readonly string[];
  readonly blocks: AsyncIterable<Block>;
}

interface Columns {
  readonly columns: readonly FileColumn[];
}

const delimiters = [",", ";", "\t", "|"];

const clean = (text: string) => text.normalize("NFC").trim();

interface Layout {
  readonly delimiter: string;
  readonly headers: readonly string[];
  /** For each column of the table the index of its field, -1 if the file does not have it. */
  readonly places: readonly number[];
}

const layoutWith = (line: string, delimiter: string, { columns }: Columns): Layout => {
  const [record] = [
    ...new RecordReader(delimiter, 0).read([{ number: 1, text: line, tooLong: false, bytesRead: 0 }]),
  ];
  const headers = (record?.fields ?? []).map(clean);
  const lower = headers.map((header) => header.toLowerCase());
  return { delimiter, headers, places: columns.map(({ header }) => lower.indexOf(header)) };
};

/** Detects the delimiter by the number of columns it finds: spreadsheets write `;` in an Indonesian locale. */
const findLayout = (line: string, table: Columns): Layout => {
  const found = ({ places }: Layout) => places.filter((place) => place >= 0).length;
  const best = delimiters
    .map((delimiter) => layoutWith(line, delimiter, table))
    .reduce((a, b) => (found(b) > found(a) ? b : a));
  const missing = table.columns.filter(
    ({ whenAbsent }, i) => whenAbsent === undefined && best.places[i] === -1,
  );
  const expected = table.columns.map(({ header }) => header).join(",");
  if (line.startsWith("PK\u0003\u0004"))
    throw new HeaderError("The file is an Excel workbook. Save it as CSV UTF-8.");
  if (line.includes("\0") || line.includes("\uFFFD"))
    throw new HeaderError("The file is not UTF-8 text. Save it as CSV UTF-8.");
  if (line.includes("\r"))
    throw new HeaderError("The lines of the file end with CR alone. Save it with LF or CRLF line endings.");
  if (missing.length > 0)
    throw new HeaderError(
      `The first line must name the columns, but these are missing: ${missing.map(({ header }) => header).join(", ")}. ` +
        `Expected:\n${expected}`,
    );
  const repeated = best.headers.find((header, i) => header !== "" && best.headers.indexOf(header) !== i);
  if (repeated) throw new HeaderError(`The first line names column ${repeated} twice.`);
  return best;
};

const checkValue = ({ header, check, whenAbsent }: FileColumn, value: string): string | undefined => {
  if (value.includes("\uFFFD")) return `${header} is not valid UTF-8`;
  if (value.includes("\0")) return `${header} contains a NUL character`;
  if (value === "" && whenAbsent !== undefined) return undefined;
  const problem = check(value);
  return problem && `${header} ${problem}`;
};

/** Spreadsheets may append rows that contain only delimiters. */
const isBlank = ({ fields }: CsvRecord) => fields?.every((field) => field.trim() === "") ?? false;

const readRecord = (
  record: CsvRecord,
  { headers, places }: Layout,
  { columns }: Columns,
): Row | Rejection => {
  const { line, text, fields } = record;
  const rejection = (reason: string): Rejection => ({ line, reason, fields, text });
  if (!fields)
    return rejection(text.length >= maxLineLength ? "the line is too long" : "the quotes do not match");
  if (fields.length !== headers.length)
    return rejection(`the row has ${fields.length} fields, the header has ${headers.length}`);
  const values = places.map((place) => clean(fields[place] ?? ""));
  const reasons = columns.flatMap((column, i) => checkValue(column, values[i] ?? "") ?? []);
  if (reasons.length > 0) return rejection(reasons.join("; "));
  return { line, values: values.map((value, i) => (value === "" && columns[i]?.whenAbsent ? null : value)) };
};

const firstLine = async (blocks: AsyncGenerator<Line[]>): Promise<{ first: Line; rest: Line[] }> => {
  for await (const [first, ...rest] of { [Symbol.asyncIterator]: () => ({ next: () => blocks.next() }) })
    if (first) return { first, rest };
  throw new HeaderError("The file is empty.");
};

/**
 * Reads a CSV file for a table, block by block, in constant memory.
 *
 * @throws HeaderError before any row is read, if the first line is not a usable header.
 */
export const openImport = async (input: Readable, table: Columns): Promise<ImportFile> => {
  const lines = readLines(input);
  const { first, rest } = await firstLine(lines);
  const layout = findLayout(first.text, table);
  const reader = new RecordReader(layout.delimiter, layout.headers.length);
  const known = new Set(table.columns.map(({ header }) => header));

  const toBlock = (records: Iterable<CsvRecord>, bytesRead: number): Block => {
    const rows: Row[] = [];
    const rejections: Rejection[] = [];
    for (const record of records) {
      if (isBlank(record)) continue;
      const read = readRecord(record, layout, table);
      if ("values" in read) rows.push(read);
      else rejections.push(read);
    }
    return { rows, rejections, bytesRead };
  };

  const blocks = async function* () {
    let bytesRead = first.bytesRead;
    yield toBlock(reader.read(rest), bytesRead);
    for await (const block of lines) {
      bytesRead = block.at(-1)?.bytesRead ?? bytesRead;
      yield toBlock(reader.read(block), bytesRead);
    }
    yield toBlock(reader.end(), bytesRead);
  };
  return {
    headers: layout.headers,
    ignored: layout.headers.filter((header) => !known.has(header.toLowerCase())),
    blocks: blocks(),
  };
};
