import { parser as php } from "@lezer/php";
import { parser as python } from "@lezer/python";

const parsers = { python, php };
export type Parsed = keyof typeof parsers;

export const isParsed = (language: string): language is Parsed => language in parsers;

/** Where a program does not follow the grammar of its language. */
export const findErrors = (language: Parsed, program: string): string[] => {
  const errors: string[] = [];
  parsers[language].parse(program).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) errors.push(program.slice(Math.max(0, from - 20), to + 20));
    },
  });
  return errors;
};
