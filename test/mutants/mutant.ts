/** A small, realistic, type-correct breakage of the product, and the tests that must notice it. */
export interface Mutant {
  /** What goes wrong, as a sentence. */
  readonly breaks: string;
  /** The source file, from the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  /** What replaces it. */
  readonly replace: string;
  /** Test files of which at least one must fail. */
  readonly tests: readonly string[];
  /** Regular expression for the names of the tests to run, where the whole files take long. */
  readonly only?: string;
}

/** The mutants of each area, by its name. */
export type MutantTable = Readonly<Record<string, readonly Mutant[]>>;

/**
 * The file's text with the mutant in it.
 *
 * @throws Error when the pattern does not occur exactly once: the code has moved and the mutant has to follow.
 */
export const applyMutant = ({ breaks, file, find, replace }: Mutant, text: string): string => {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(
      `${file}: the text to find for «${breaks}» (test/mutants/table/) occurs ${parts.length - 1} times instead of once; adapt it to the code`,
    );
  return parts.join(replace);
};
