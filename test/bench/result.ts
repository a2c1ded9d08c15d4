import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

type Row = Readonly<Record<string, string | number>>;

const decimals = (value: number): number => String(value).split(".")[1]?.length ?? 0;

/** One column's cells, of one width: text to the left, numbers with their points below each other. */
const layOut = (title: string, values: readonly (string | number)[]): string[] => {
  const numbers = values.filter((value) => typeof value === "number");
  const digits = Math.max(0, ...numbers.map(decimals));
  const cells = [
    title,
    ...values.map((value) => (typeof value === "number" ? value.toFixed(digits) : value)),
  ];
  const width = Math.max(...cells.map(({ length }) => length));
  return cells.map((cell) => (numbers.length > 0 ? cell.padStart(width) : cell.padEnd(width)));
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (i: number) => sorted[Math.floor(i)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
};

/** Prints rows that have the same columns; stdout is for the figures as JSON. */
export const printTable = (rows: readonly Row[]) => {
  const columns = Object.keys(rows[0] ?? {}).map((title) =>
    layOut(
      title,
      rows.map((row) => row[title] ?? ""),
    ),
  );
  for (let line = 0; line <= rows.length; line++)
    console.error(columns.map((cells) => cells[line]).join("  "));
};

/** What a bench measured. */
export interface Result {
  /** Name of its file. */
  readonly bench: string;
  readonly figures: Readonly<Record<string, unknown>>;
  /** A picture of them, as SVG. */
  readonly picture?: string;
}

/** Stores figures in `results/<bench>.json`, with the date and the version of Node. @returns the file. */
export const writeResult = ({ bench, figures, picture }: Result): string => {
  const folder = fileURLToPath(new URL("results", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const result = { date: new Date().toISOString().slice(0, 10), node: process.version, ...figures };
  const file = `${folder}/${bench}.json`;
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  if (picture !== undefined) writeFileSync(`${folder}/${bench}.svg`, picture);
  return file;
};
