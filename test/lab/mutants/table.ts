import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod/mini";
import { Mutant } from "./mutant.ts";

const folder = join(import.meta.dirname, "table");

const readMutant = (line: string, index: number, area: string): Mutant => {
  const { data, error } = Mutant.safeParse(JSON.parse(line));
  if (error) throw new Error(`${area}.jsonl:${index + 1}: ${z.prettifyError(error)}`);
  return data;
};

/** Every mutant, by the area of the product that it breaks: a file for each area, a line for each mutant. */
export const table: Readonly<Record<string, readonly Mutant[]>> = Object.fromEntries(
  globSync(join(folder, "*.jsonl"))
    .toSorted()
    .map((file) => {
      const area = basename(file, ".jsonl");
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      return [area, lines.map((line, index) => readMutant(line, index, area))];
    }),
);
