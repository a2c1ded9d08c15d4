import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

type Row = Readonly<Record<string, string | number>>;

/** Prints rows of the same columns: text to the left, numbers to the right. */
export const printTable = (rows: readonly Row[]) => {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
  const widths = columns.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)));
  const isText = columns.map((column) => typeof rows[0]?.[column] === "string");
  for (const cells of lines) {
    const padded = cells.map((cell, i) =>
      isText[i] ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
    );
    console.log(padded.join("  "));
  }
};

/** Keeps a bench's figures in `results/<bench>.json`, with the date and the version of Node. */
export const writeResult = (bench: string, figures: Readonly<Record<string, unknown>>) => {
  const folder = fileURLToPath(new URL("results", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const result = { date: new Date().toISOString().slice(0, 10), node: process.version, ...figures };
  writeFileSync(`${folder}/${bench}.json`, `${JSON.stringify(result, null, 2)}\n`);
};
