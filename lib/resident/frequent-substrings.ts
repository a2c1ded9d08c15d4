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
export const chooseFrequentSubstrings = (
  names: readonly string[],
  minimum: number,
  limit: number,
): string[] => {
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

interface Node {
  readonly term: string;
  readonly next: Map<string, Node>;
  /** Whether the term is counted; if not, it is only a prefix of longer terms. */
  isCounted: boolean;
  count: number;
  /** The last counted name, so that a name with two occurrences counts once. */
  lastName: number;
}

/** All strings up to this length, in code points, are counted. */
const alwaysLength = 2;

const extend = (node: Node, character: string): Node => {
  const known = node.next.get(character);
  if (known) return known;
  const term = node.term + character;
  const added: Node = { term, next: new Map(), isCounted: false, count: 0, lastName: -1 };
  node.next.set(character, added);
  return added;
};

/**
 * Counts the names that contain each string: all strings of one or two code points and the given longer terms.
 * Compares code points, like PostgreSQL's LIKE under the C collation.
 *
 * Walks a trie of the strings from each letter of a name, so the cost of a name is its length times the depth of the
 * trie, independent of the number of strings.
 */
export class StringCounter {
  readonly #root: Node = { term: "", next: new Map(), isCounted: false, count: 0, lastName: -1 };
  #names = 0;

  constructor(longerTerms: readonly string[]) {
    for (const term of longerTerms) {
      let node = this.#root;
      for (const character of term) node = extend(node, character);
      node.isCounted = true;
    }
  }

  /** @param names folded, as in the column name_search. @returns for each string that occurs, the number of names that contain it. */
  count(names: readonly string[]): Map<string, number> {
    const met: Node[] = [];
    for (const name of names) {
      this.#names += 1;
      const characters = [...name];
      for (const start of characters.keys()) this.#walk(characters, start, met);
    }
    const counts = new Map(met.map(({ term, count }) => [term, count]));
    for (const node of met) node.count = 0;
    return counts;
  }

  #walk(characters: readonly string[], start: number, met: Node[]) {
    let node = this.#root;
    for (let at = start; at < characters.length; at++) {
      const character = characters[at] as string;
      const isShort = at - start < alwaysLength;
      const next = isShort ? extend(node, character) : node.next.get(character);
      if (!next) return;
      node = next;
      if ((!isShort && !node.isCounted) || node.lastName === this.#names) continue;
      node.lastName = this.#names;
      if (node.count++ === 0) met.push(node);
    }
  }
}
