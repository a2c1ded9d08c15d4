import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

/** A measure in a row is for comparisons, and not printed. */
type Row = Readonly<Record<string, string | number | Measure>>;

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

/** Interpolated between the two values beside it. */
const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [below = Number.NaN, above = below] = [Math.floor(place), Math.ceil(place)].map((i) => sorted[i]);
  return below + (above - below) * (place % 1);
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The median and its spread: a quarter of the values is below `low`, a quarter above `high`. */
export interface Measure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export const measureOf = (values: readonly number[]): Measure => {
  const [low = 0, middle = 0, high = 0] = [0.25, 0.5, 0.75].map((share) =>
    Number(quantile(values, share).toFixed(2)),
  );
  return { median: middle, low, high };
};

/** What is new about a measure of which less is better: a change within the spreads means nothing. */
export const compareMeasure = (now: Measure, before: Measure | undefined): string => {
  if (!before) return "new";
  if (now.low > before.high) return "worse";
  return now.high < before.low ? "better" : "same";
};

/** Prints rows that have the same columns; stdout is for the figures as JSON. */
export const printTable = (rows: readonly Row[]) => {
  const titles = Object.keys(rows[0] ?? {}).filter((title) => typeof rows[0]?.[title] !== "object");
  const columns = titles.map((title) =>
    layOut(
      title,
      rows.map((row) => (row[title] ?? "") as string | number),
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

const folder = fileURLToPath(new URL("results", import.meta.url));
/** Where the guides show them. */
const pictures = fileURLToPath(new URL("../../../lib/docs/pictures", import.meta.url));

/** @returns the figures that were stored last, if any. */
export const findResult = (bench: string): Readonly<Record<string, unknown>> | undefined => {
  const file = `${folder}/${bench}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
};

const isMeasure = (value: object): value is Measure => ["median", "low", "high"].every((key) => key in value);

/** Lists the measures in figures by where they stand: a row of a table is known by its texts. */
const listMeasures = (
  value: unknown,
  place: readonly string[] = [],
): readonly (readonly [string, Measure])[] => {
  if (typeof value !== "object" || value === null) return [];
  if (isMeasure(value)) return [[place.join(", "), value]];
  const names = Array.isArray(value)
    ? value.map((row) =>
        Object.values(row)
          .filter((cell) => typeof cell === "string")
          .join(" "),
      )
    : Object.keys(value);
  return Object.values(value).flatMap((inner, index) => listMeasures(inner, [...place, names[index] ?? ""]));
};

/** What changes the work, unlike the number of samples: results of other sizes are not compared. */
const sizeNames = ["rows", "beside", "residents", "messages", "audits", "recipients"];

const sizesOf = (figures: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(sizeNames.flatMap((name) => (name in figures ? [[name, figures[name]]] : [])));

/** Compares each measure with the one that was stored last, if that was measured with the same sizes. */
export const compareResult = ({ bench, figures }: Result): readonly Row[] => {
  const stored = findResult(bench);
  const before = new Map(isDeepStrictEqual(sizesOf(stored), sizesOf(figures)) ? listMeasures(stored) : []);
  return listMeasures(figures).map(([what, now]) => ({
    bench,
    what,
    now: now.median,
    before: before.get(what)?.median ?? "",
    change: compareMeasure(now, before.get(what)),
  }));
};

const commit = () => execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();

/** Stores figures in `results/<bench>.json`, with the date, the commit and the version of Node. @returns the file. */
export const writeResult = ({ bench, figures, picture }: Result): string => {
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const result = { date, commit: commit(), node: process.version, ...figures };
  const file = `${folder}/${bench}.json`;
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  if (picture !== undefined) writeFileSync(`${pictures}/${bench}.svg`, picture);
  return file;
};
