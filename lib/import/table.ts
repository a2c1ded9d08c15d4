import type postgres from "postgres";

/** One column of an import: its header in the file, its rule, and its column in the database. */
interface Column {
  /** Header in the file, in lower case: the field's name in the contract. */
  readonly header: string;
  readonly column: string;
  /** PostgreSQL type to which the text is cast. */
  readonly type: "text" | "integer" | "timestamp";
  /** What a value is, for the operator. */
  readonly rule: string;
  /** Returns what is wrong with a value, phrased so that the user can fix it, or undefined for a valid one. */
  readonly check: (value: string) => string | undefined;
  /**
   * SQL default for an optional column. If the file omits the column or leaves it blank, a new row gets this value
   * and an existing row is left unchanged. Without a default the column is required.
   */
  readonly whenAbsent?: string;
}

/** What a file must have for a column. */
export type FileColumn = Pick<Column, "header" | "check" | "whenAbsent">;

/** A table that can be imported: rows with a known key are updated, others are added. */
export interface ImportTable {
  readonly name: string;
  readonly table: `${string}.${string}`;
  /** Database column of the natural key. */
  readonly key: string;
  readonly columns: readonly Column[];
  /** SQL condition of a stored row, `target`, that is written although it has the same values, so that triggers see it. */
  readonly alwaysWritten?: string;
  /** Runs after a whole file has been stored. */
  readonly afterwards?: (sql: postgres.Sql) => Promise<void>;
}

/** A row's values after clean-up, in the order of the table's columns; null where absent. */
export interface Content {
  readonly values: readonly (string | null)[];
}

export interface Row extends Content {
  /** Line of the file on which the row starts, from 1. */
  readonly line: number;
}

/** Returns a function that reads a row's key in a normalised spelling. */
export const keyReader = ({ key, columns }: ImportTable): ((row: Content) => string) => {
  const place = columns.findIndex(({ column }) => column === key);
  const isNumber = columns[place]?.type === "integer";
  return ({ values }) => {
    const value = values[place] ?? "";
    return isNumber ? String(Number(value)) : value;
  };
};

/** A row that failed validation. */
export interface Rejection {
  readonly line: number;
  /** Every violated rule, with its column. */
  readonly reason: string;
  /** The fields as in the file, or undefined if the line could not be parsed. */
  readonly fields: readonly string[] | undefined;
  readonly text: string;
}

export const checkBlank = (value: string) => (value === "" ? "must not be blank" : undefined);

export const acceptAny = () => undefined;
