import { readdirSync, readFileSync } from "node:fs";
import { parser as php } from "@lezer/php";
import { parser as python } from "@lezer/python";
import { describe, expect, test } from "vitest";
import { type Block, readBlocks } from "../steps/shell-lines.ts";

const parsers = { python, php };
const isParsed = (language: string): language is keyof typeof parsers => language in parsers;

/** Where a text does not follow the grammar of its language. */
const findErrors = (language: keyof typeof parsers, text: string): string[] => {
  const program = language === "php" ? `<?php\n${text}` : text;
  const errors: string[] = [];
  parsers[language].parse(program).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) errors.push(program.slice(Math.max(0, from - 20), to + 20));
    },
  });
  return errors;
};

const examples = readdirSync("lib/docs/examples").flatMap((file) =>
  readBlocks(readFileSync(`lib/docs/examples/${file}`, "utf8"))
    .filter(({ language }) => isParsed(language))
    .map((block) => [`${file} in ${block.language}`, block] as const),
);

test.each(examples)("the example of %s follows the grammar", (_, { language, text }: Block) =>
  expect(isParsed(language) && findErrors(language, text)).toEqual([]),
);

describe("a mistake in an example is found", () => {
  test.each([
    ["python", 'print("a"'],
    ["python", "if x\n    print(x)\n"],
    ["php", "$a = ['b' => 1;"],
    ["php", "echo 'a' 'b';"],
  ] as const)("in %s: %s", (language, text) => expect(findErrors(language, text)).not.toEqual([]));
});
