import type { Readable } from "node:stream";
import { cleanCell, isSpreadsheetError } from "./cell.ts";
import { type CsvRecord, maxLineLength, RecordReader, readLines } from "./csv.ts";
import { type Layout, readHeader } from "./header.ts";
import type { FileColumn, Rejection, Row } from "./table.ts";

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

const checkValue = ({ header, check, whenAbsent }: FileColumn, value: string): string | undefined => {
  if (value.includes("\uFFFD"))
    return `${header} contains \uFFFD, in place of letters that were lost or are not UTF-8`;
  if (value.includes("\0")) return `${header} contains a NUL character`;
  if (isSpreadsheetError(value)) return `${header} is an error of a spreadsheet`;
  if (value === "" && whenAbsent !== undefined) return undefined;
  const problem = check(value);
  return problem && `${header} ${problem}`;
};

/** Spreadsheets may append rows that contain only delimiters. */
const isBlank = ({ fields }: CsvRecord) => fields?.every((field) => cleanCell(field) === "") ?? false;

/** Returns why the fields of a record cannot be told apart. */
const findBreak = ({ text, fields, isUnended }: CsvRecord, { headers }: Layout): string | undefined => {
  if (!fields) return text.length >= maxLineLength ? "the line is too long" : "the quotes do not match";
  // rows between two stray quotes, whose number of fields does not tell: they lack blank cells at their end
  if (text.includes("\n") && fields.some((field) => /\n.*\d{16}/.test(field)))
    return "the quotes do not match";
  // spreadsheets leave out blank cells at the end of a row, or add some
  if (fields.slice(headers.length).some((field) => cleanCell(field) !== ""))
    return `the row has ${fields.length} fields, the header has ${headers.length}`;
  return fields.length < headers.length && isUnended ? "the file ends within this row" : undefined;
};

/** Returns the row, or why it is rejected. */
const readRecord = (record: CsvRecord, layout: Layout, { columns }: Columns): Row | Rejection => {
  const { line, fields = [] } = record;
  const problem = findBreak(record, layout);
  if (problem) return { ...record, reason: problem, values: undefined };
  const values = columns.map(({ clean }, i) => {
    const value = cleanCell(fields[layout.places[i] ?? -1] ?? "");
    return clean ? clean(value) : value;
  });
  const reasons = columns.flatMap((column, i) => checkValue(column, values[i] ?? "") ?? []);
  if (reasons.length > 0) return { ...record, reason: reasons.join("; "), values };
  return { line, values: values.map((value, i) => (value === "" && columns[i]?.whenAbsent ? null : value)) };
};

/**
 * Reads a CSV file for a table, block by block, in constant memory.
 *
 * @param findFault returns why a row that is valid by itself is rejected.
 * @throws HeaderError before any row is read, if the first line is not a usable header.
 */
export const openImport = async (
  input: Readable,
  table: Columns,
  findFault: (row: Row) => string | undefined = () => undefined,
): Promise<ImportFile> => {
  const lines = readLines(input);
  const header = await readHeader(lines, table.columns);
  const reader = new RecordReader(header.delimiter, header.headers.length, header.line + 1);

  const toBlock = (records: Iterable<CsvRecord>, bytesRead: number): Block => {
    const rows: Row[] = [];
    const rejections: Rejection[] = [];
    for (const record of records) {
      if (isBlank(record)) continue;
      const read = readRecord(record, header, table);
      const fault = "reason" in read ? undefined : findFault(read);
      if ("reason" in read) rejections.push(read);
      else if (fault) rejections.push({ ...record, reason: fault, values: undefined });
      else rows.push(read);
    }
    return { rows, rejections, bytesRead };
  };

  const blocks = async function* () {
    let { bytesRead } = header;
    yield toBlock(reader.read(header.rest), bytesRead);
    for await (const block of lines) {
      bytesRead = block.at(-1)?.bytesRead ?? bytesRead;
      yield toBlock(reader.read(block), bytesRead);
    }
    yield toBlock(reader.end(), bytesRead);
  };
  return { headers: header.headers, ignored: header.ignored, blocks: blocks() };
};
