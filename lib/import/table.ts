/** One column of an import: where its value comes from, what it must be, where it goes. */
export interface Column {
  /** Header in the file: the name that the contract uses. */
  readonly header: string;
  /** Column of the database table. */
  readonly column: string;
  /** PostgreSQL type that the text is cast to. */
  readonly type: "text" | "integer" | "timestamp";
  /** The rule that a value breaks, in words that say how to mend it; undefined for a good one. */
  readonly refuse: (value: string) => string | undefined;
  /**
   * SQL for a column that a file may leave out or blank: a new row gets this, a known one keeps its value.
   * Without it the column must be in the file.
   */
  readonly whenAbsent?: string;
}

/** A table that is filled from files: rows with a known key are updated, others added. */
export interface ImportTable {
  readonly name: string;
  /** Schema and table. */
  readonly table: `${string}.${string}`;
  /** Database column of the natural key. */
  readonly key: string;
  readonly columns: readonly Column[];
}

/** What is stored of a row: cleaned values in the order of the table's columns, null where absent. */
export interface Content {
  readonly values: readonly (string | null)[];
}

/** A row that may be stored. */
export interface Row extends Content {
  /** Line of the file on which the row begins, from 1. */
  readonly line: number;
}

/** Reads a row's key, the same for any spelling of it. */
export const keyReader = ({ key, columns }: ImportTable): ((row: Content) => string) => {
  const place = columns.findIndex(({ column }) => column === key);
  const isNumber = columns[place]?.type === "integer";
  return ({ values }) => {
    const value = values[place] ?? "";
    return isNumber ? String(Number(value)) : value;
  };
};

/** A row that may not be stored. */
export interface Refusal {
  readonly line: number;
  /** Each broken rule, by column. */
  readonly reason: string;
  /** The fields as they stand in the file, or undefined where they could not be told apart. */
  readonly fields: readonly string[] | undefined;
  readonly text: string;
}

export const refuseBlank = (value: string) => (value === "" ? "must not be blank" : undefined);

export const acceptAny = () => undefined;
