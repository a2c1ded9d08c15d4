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
