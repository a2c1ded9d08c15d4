import { readdirSync } from "node:fs";
import { readBlocks, readGuideText } from "../steps/shell-lines.ts";
import type { Workshop } from "../steps/workshop.ts";

/** Lines of a recipe, and where they belong. */
interface Step {
  readonly file: string;
  /** The names of the object, list or table, from the outermost one; none for a new file or the end of a file. */
  readonly place: readonly string[];
  readonly lines: readonly string[];
}

const nextMigration = () => String(readdirSync("lib/db/tables").length + 1).padStart(4, "0");

/** The steps of a recipe, by its heading in the guide to contributors. */
export const readRecipe = (heading: string): Step[] => {
  const [, section = ""] = readGuideText("en", "contributor").split(`## ${heading}\n`);
  return readBlocks(section.split(/^## /m)[0] ?? "").map(({ text }) => {
    const [first = "", ...lines] = text.trimEnd().split("\n");
    const [, file, place = ""] =
      /^(?:\/\/|--|<!--) ([\w/.-]+)(?:, in (?:the )?([\w.]+))?(?: -->)?$/.exec(first) ?? [];
    if (!file) throw new Error(`a block of "${heading}" does not start with its file: ${first}`);
    return { file: file.replace("NNNN", nextMigration), place: place.split(".").filter(Boolean), lines };
  });
};

const indentOf = (line: string): string => /^ */.exec(line)?.[0] ?? "";

/** @returns the index of the line that closes the object, list or table. */
const findEnd = (lines: readonly string[], { file, place }: Step): number => {
  if (place[0] === "table") return lines.findLastIndex((line) => line.startsWith("|")) + 1;
  let from = 0;
  for (const name of place) {
    const opening = new RegExp(`(^|[^\\w.])${name}\\b.*[[{(]$`);
    from = lines.findIndex((line, index) => index >= from && opening.test(line)) + 1;
    if (from === 0) throw new Error(`${file} has no ${name}`);
  }
  const indent = indentOf(lines[from - 1] ?? "");
  return lines.findIndex(
    (line, index) => index >= from && indentOf(line) === indent && /^[\]})]/.test(line.trim()),
  );
};

const added = (step: Step, tree: Workshop): string => {
  const { file, place, lines } = step;
  if (!tree.has(file)) return `${lines.join("\n")}\n`;
  const all = tree.read(file).split("\n");
  if (place.length === 0) all.push(...lines, "");
  else all.splice(findEnd(all, step), 0, ...lines);
  return all.join("\n");
};

/** Does in a copy of the tree what a step says. */
export const follow = (step: Step, tree: Workshop): void => tree.write(step.file, added(step, tree));
