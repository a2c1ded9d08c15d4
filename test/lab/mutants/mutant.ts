import * as z from "zod/mini";

/** A small, realistic, type-correct bug, and the tests that must detect it. */
export const Mutant = z.strictObject({
  /** What goes wrong, as a sentence. */
  breaks: z.string(),
  /** The source file, from the root of the repository. */
  file: z.string(),
  /** Text that occurs exactly once in the file. */
  find: z.string().check(z.minLength(1)),
  /** What replaces it. */
  replace: z.string(),
  /** Test files of which at least one must fail. */
  tests: z.array(z.string()).check(z.minLength(1)),
  /** Regular expression for the names of the tests to run, where the whole files take long. */
  only: z.optional(z.string()),
});
export type Mutant = z.infer<typeof Mutant>;

/**
 * The file's text with the mutant in it.
 *
 * @throws Error when the pattern does not occur exactly once: the code has moved and the mutant has to follow.
 */
export const applyMutant = ({ breaks, file, find, replace }: Mutant, text: string): string => {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(
      `${file}: the text to find for «${breaks}» (test/lab/mutants/table/) occurs ${parts.length - 1} times instead of once; adapt it to the code`,
    );
  return parts.join(replace);
};
