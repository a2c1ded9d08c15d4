/** No name part that is worth a profile is longer, in code points. */
const maxLength = 40;

/** Where each code point begins, and the end; undefined where that is where each code unit does. */
const codePointStarts = (name: string): number[] | undefined => {
  if (!/[\uD800-\uDFFF]/.test(name)) return undefined;
  const starts = [0];
  for (const character of name) starts.push((starts.at(-1) ?? 0) + character.length);
  return starts;
};

/** The strings of so many code points that go on from a known one, each once. */
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
 * Chooses the strings of three and more code points that many names contain, from a sample of names. A string
 * is looked at only where the one without its last letter is frequent, so that memory stays small.
 *
 * @param names lower-cased, as they are stored.
 * @param minimum names of the sample that a string must be in.
 * @param most strings: the most frequent ones.
 */
export const chooseVocabulary = (names: readonly string[], minimum: number, most: number): string[] => {
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
    .slice(0, most)
    .map(([term]) => term);
};
