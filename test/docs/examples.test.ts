import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findErrors, isParsed } from "../steps/grammar.ts";
import { type Block, readBlocks } from "../steps/shell-lines.ts";

const examples = readdirSync("lib/docs/examples").flatMap((file) =>
  readBlocks(readFileSync(`lib/docs/examples/${file}`, "utf8"))
    .filter(({ language }) => isParsed(language))
    .map((block) => [`${file} in ${block.language}`, block] as const),
);

test.each(examples)("the example of %s follows the grammar", (_, { language, text }: Block) =>
  expect(isParsed(language) && findErrors(language, text)).toEqual([]),
);

const inPhp = examples.filter(([, { language }]) => language === "php");
/** Optional, unlike the programs that `package.json` names. */
const php = "php";
const hasPhp = spawnSync(php, ["--version"]).status === 0;

test.each(inPhp)(
  "the example of %s begins with the tag of PHP, and PHP accepts it where it is installed",
  (_, { text }) => {
    expect(text).toMatch(/^<\?php\n/);
    if (!hasPhp) return;
    const { status, stdout } = spawnSync(php, ["-l"], { input: text, encoding: "utf8" });
    expect(status, stdout).toBe(0);
  },
);

describe("a mistake in an example is found", () => {
  test.each([
    ["python", 'print("a"'],
    ["python", "if x\n    print(x)\n"],
    ["php", "<?php\nif (true) {\n    echo 'a';\n"],
    ["php", "<?php\n$a = ['b' => 1;"],
    ["php", "<?php\necho 'a' 'b';"],
  ] as const)("in %s: %s", (language, text) => expect(findErrors(language, text)).not.toEqual([]));
});
