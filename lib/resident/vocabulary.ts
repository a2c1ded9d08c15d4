/** Longer name parts, in code points, are never frequent. */
const maxLength = 40;

/** Offsets of the code points and the end; undefined if every code point is one code unit. */
const codePointStarts = (name: string): number[] | undefined => {
  if (!/[\uD800-\uDFFF]/.test(name)) return undefined;
  const starts = [0];
  for (const character of name) starts.push((starts.at(-1) ?? 0) + character.length);
  return starts;
};

/** The distinct substrings of this length whose prefix is known. */
const stringsOf = (name: string, length: number, known: ReadonlySet<string> | undefined): Set<string> => {
  const starts = codePointStarts(name);
  const last = (starts ? starts.length - 1 : name.length) - length;
  const found = new Set<string>();
  for (let i = 0; i <= last; i++) {
    const [from, to, shorter] = starts
      ? [starts[i], starts[i + length], starts[i + length - 1]]
      : [i, i + length, i + length - 1];
    if (!known || known.has(name.slice(from, shorter))) found.add(name.slice(from, to));
  }
  return found;
};

/**
 * Chooses frequent strings of three or more code points from a sample of names. Counts a string only if the string
 * without its last letter is frequent, to limit memory.
 *
 * @param names folded, as in the column name_search.
 * @param minimum names of the sample that must contain a string.
 * @param limit maximum number of strings; the most frequent ones are chosen.
 */
export const chooseVocabulary = (names: readonly string[], minimum: number, limit: number): string[] => {
  const chosen: [string, number][] = [];
  let known: Set<string> | undefined;
  for (let length = 3; length <= maxLength && known?.size !== 0; length++) {
    const counts = new Map<string, number>();
    for (const name of names)
      for (const term of stringsOf(name, length, known)) counts.set(term, (counts.get(term) ?? 0) + 1);
    const frequent = [...counts].filter(([, count]) => count >= minimum);
    chosen.push(...frequent);
    known = new Set(frequent.map(([term]) => term));
  }
  return chosen
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([term]) => term);
};
