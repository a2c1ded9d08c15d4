import { readFileSync } from "node:fs";
import { readBlocks, readGuideText } from "../steps/shell-lines.ts";

/** The tabs of a block of a guide: the shell, and the other languages of its file. */
export interface Tabs {
  readonly name: string;
  /** The shell block. */
  readonly shell: string;
  /** The shell blocks of the guide, up to this one. */
  readonly shellSoFar: string;
  /** By language. */
  readonly others: ReadonlyMap<string, string>;
}

const readOthers = (name: string): Map<string, string> =>
  new Map(
    readBlocks(readFileSync(`lib/docs/examples/${name}.md`, "utf8")).map(({ language, text }) => [
      language,
      text,
    ]),
  );

/** Reads the blocks with tabs of an English guide; the other languages have the same blocks. */
export const listTabs = (guide: string): Tabs[] => {
  const shells = readBlocks(readGuideText("en", guide)).filter(({ language }) => language === "sh");
  return shells.flatMap(({ mark: name, text }, index) => {
    if (name === "" || name === "cloud") return [];
    const before = shells.slice(0, index + 1).map((block) => block.text);
    return [{ name, shell: text, shellSoFar: before.join("\n"), others: readOthers(name) }];
  });
};

/** @throws Error if the guide has no such block. */
export const getTabs = (guide: string, name: string): Tabs => {
  const found = listTabs(guide).find((tabs) => tabs.name === name);
  if (!found) throw new Error(`the guide ${guide} has no block ${name}`);
  return found;
};
