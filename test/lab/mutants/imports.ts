import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const statement =
  /^(?:import|export)(?! type)[^"]*?from "([.#][^"]+)"|^import "([.#][^"]+)"|import\("([.#][^"]+)"\)/gm;

const listImports = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(statement)].map(([, from, bare, called]) => {
    const to = from ?? bare ?? called ?? "";
    return to.startsWith("#") ? to.slice(1) : posix.join(posix.dirname(file), to);
  });

/** Whether a module leads to another one, directly or through others. Types do not count. */
export const leadsTo = (from: string, targets: readonly string[]): boolean => {
  const seen = new Set([from]);
  for (const file of seen) {
    if (targets.includes(file)) return true;
    for (const next of listImports(file)) if (existsSync(next)) seen.add(next);
  }
  return false;
};
