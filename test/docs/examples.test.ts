import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findErrors, isParsed } from "../steps/grammar.ts";
import { type Block, readBlocks } from "../steps/shell-lines.ts";

/** An example is a part of a program. */
const programOf = (language: string, text: string) => (language === "php" ? `<?php\n${text}` : text);

const examples = readdirSync("lib/docs/examples").flatMap((file) =>
  readBlocks(readFileSync(`lib/docs/examples/${file}`, "utf8"))
    .filter(({ language }) => isParsed(language))
    .map((block) => [`${file} in ${block.language}`, block] as const),
);

test.each(examples)("the example of %s follows the grammar", (_, { language, text }: Block) =>
  expect(isParsed(language) && findErrors(language, programOf(language, text))).toEqual([]),
);

describe("a mistake in an example is found", () => {
  test.each([
    ["python", 'print("a"'],
    ["python", "if x\n    print(x)\n"],
    ["php", "$a = ['b' => 1;"],
    ["php", "echo 'a' 'b';"],
  ] as const)("in %s: %s", (language, text) =>
    expect(findErrors(language, programOf(language, text))).not.toEqual([]),
  );
});
