import type postgres from "postgres";

/** One column of an import: its header in the file, its rule, and its column in the database. */
interface Column {
  /** Header in the file, in lower case: the field's name in the contract. */
  readonly header: string;
  /** Headers that exports of other programs have for it, as {@link header}, with `_` for blanks, dots and dashes. */
  readonly otherHeaders?: readonly string[];
  readonly column: string;
  /** PostgreSQL type to which the text is cast. */
  readonly type: "text" | "integer" | "timestamp";
  /** What a value is, for the operator. */
  readonly rule: string;
  /** Removes what exports add to a value, where that has one meaning. */
  readonly clean?: (value: string) => string;
  /** Returns what is wrong with a value, phrased so that the user can fix it, or undefined for a valid one. */
  readonly check: (value: string) => string | undefined;
  /**
   * SQL default of a blank cell: a new row gets this value, and an existing row is left unchanged. Without a default, a
   * blank cell is a value like any other.
   */
  readonly whenAbsent?: string;
  /** Whether the file may omit the column; then all its cells are blank. */
  readonly isOptional?: true;
  /** Whether its values are numbers of so many digits that a spreadsheet rounds them. */
  readonly mayBeRounded?: true;
}

/** What a file must have for a column. */
export type FileColumn = Pick<
  Column,
  "header" | "otherHeaders" | "clean" | "check" | "whenAbsent" | "isOptional"
>;

/** A table that can be imported: rows with a known key are updated, others are added. */
export interface ImportTable {
  readonly name: string;
  readonly table: `${string}.${string}`;
  /** Database column of the natural key. */
  readonly key: string;
  readonly columns: readonly Column[];
  /** SQL for what a blank cell keeps in a stored row, `known`; default: the value of the column. */
  readonly kept?: (column: string) => string;
  /** SQL condition of a stored row, `target`, that is written although it has the same values, so that triggers see it. */
  readonly alwaysWritten?: string;
  /** For a table whose whole content a file can be. */
  readonly whole?: {
    /** Whether a cleaned cell can be a key; a row without one could be of anybody. */
    readonly isKey: (value: string) => boolean;
    /** Marks rows, by key, that the source no longer has. */
    readonly markLeft: (sql: postgres.Sql, keys: readonly string[]) => Promise<void>;
  };
  /** Runs after a whole file has been stored. */
  readonly afterwards?: (sql: postgres.Sql) => Promise<void>;
}

/** A row's values after clean-up, in the order of the table's columns; null where absent. */
export interface Content {
  readonly values: readonly (string | null)[];
}

export interface Row extends Content {
  /** The row as a spreadsheet numbers it, from 1. */
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
  /** Cleaned, in the order of the table's columns; undefined if the fields could not be told apart. */
  readonly values: readonly string[] | undefined;
}

export const checkBlank = (value: string) => (value === "" ? "must not be blank" : undefined);

export const acceptAny = () => undefined;

/** A column of text in which a blank cell keeps what is stored. */
export const optionalText = (header: string, column: string) => ({
  header,
  column,
  type: "text" as const,
  rule: "text; blank keeps what is stored",
  check: acceptAny,
  whenAbsent: "''",
});
