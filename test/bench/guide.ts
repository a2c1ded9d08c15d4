import { readFileSync, writeFileSync } from "node:fs";
import { languages } from "#lib/openapi/text.ts";
import type { Measured as ColdStarts } from "./cold-start-figures.ts";
import { findResult, type Measure } from "./result.ts";
import type { Warm } from "./warm.ts";

type Row = Readonly<Record<string, string | number>>;

const spreadOf = ({ median, low, high }: Measure): string =>
  `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** Rows as a bench stores them. */
const rowsAt =
  (key: string) =>
  (figures: Readonly<Record<string, unknown>>): readonly Row[] =>
    (figures[key] ?? []) as readonly Row[];

/** Every measure that a bench stores by its name. */
const measures = (figures: Readonly<Record<string, Measure | unknown>>): readonly Row[] =>
  Object.entries(figures).flatMap(([what, value]) =>
    typeof value === "object" && value !== null ? [{ what, measured: spreadOf(value as Measure) }] : [],
  );

const times = (value: number): string => `${value.toFixed(2)} ×`;

/** How many times longer each framework takes than we do, by function. */
const peerRows = ({ functions, peers }: ColdStarts): readonly Row[] =>
  functions.flatMap(({ function: name, ratio }) => {
    const beside = peers
      .filter((row) => row.function === name)
      .map((row) => [row.peer, times(row.toOurs.median)]);
    return beside.length > 0 ? [{ function: name, ours: ratio.median, ...Object.fromEntries(beside) }] : [];
  });

/** The tables of the guide, each with the bench whose figures it shows. */
const tables: Readonly<Record<string, readonly [bench: string, rowsOf: (figures: never) => readonly Row[]]>> =
  {
    "cold-start": [
      "cold-start",
      ({ functions }: ColdStarts) =>
        functions.map(({ function: name, ratio, ms, bundleKb }) => ({
          function: name,
          ratio: spreadOf(ratio),
          ms,
          KB: bundleKb,
        })),
    ],
    peers: ["cold-start", peerRows],
    "caller-waits": [
      "cold-start",
      ({ callerWaits }: ColdStarts) =>
        callerWaits.map(({ function: name, authorizer, ratio, peers }) => ({
          function: name,
          authorizer,
          ours: ratio.median,
          ...Object.fromEntries(Object.entries(peers).map(([peer, value]) => [peer, times(value)])),
        })),
    ],
    warm: [
      "warm",
      ({ functions }: Warm) =>
        functions.map(({ function: name, pipeline, write, whole }) => ({
          function: name,
          "pipeline p50 µs": pipeline?.median ?? "–",
          "p99 µs": pipeline?.p99 ?? "–",
          bytes: pipeline?.bytes ?? "–",
          "log write p50 µs": write.median,
          "whole p50 ms": (whole.median / 1_000).toFixed(2),
          "whole p99 ms": (whole.p99 / 1_000).toFixed(2),
        })),
    ],
    ...Object.fromEntries(
      ["residents-1000000", "residents-10000000"].flatMap((bench) => [
        [bench, [bench, rowsAt("reads")]],
        [`${bench}-readers`, [bench, rowsAt("readers")]],
      ]),
    ),
    import: ["import", rowsAt("ways")],
    accept: ["accept", rowsAt("rounds")],
    delivery: ["delivery", rowsAt("rows")],
    ...Object.fromEntries(["start", "synth", "suite"].map((bench) => [bench, [bench, measures]])),
  };

const tableOf = (rows: readonly Row[]): string => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => typeof rows[0]?.[column] !== "object");
  const isText = (column: string) => rows.some((row) => /^[a-z«]/i.test(String(row[column])));
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    line(columns.map((column) => (isText(column) ? "---" : "---:"))),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ""))),
  ].join("\n");
};

const block = /(<!-- npm run bench: ([\w-]+) -->\n\n)[\s\S]*?(<!-- end -->)/g;

/** Replaces each table of a guide by the stored figures. @throws Error for a table without a bench or a result. */
export const replaceTables = (guide: string): string =>
  guide.replace(block, (_, start: string, name: string, end: string) => {
    const [bench = "", rowsOf = () => []] = tables[name] ?? [];
    const figures = findResult(bench);
    if (!figures) throw new Error(`no stored result for the table ${name}`);
    return `${start}${tableOf(rowsOf(figures as never))}\n\n${end}`;
  });

/** Writes the stored figures into the guide `speed` in each language. */
export const writeGuides = (): void => {
  for (const language of languages) {
    const file = `lib/docs/guides/${language}/speed.md`;
    writeFileSync(file, replaceTables(readFileSync(file, "utf8")));
  }
};
