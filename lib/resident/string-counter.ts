interface Node {
  readonly term: string;
  readonly next: Map<string, Node>;
  /** Whether a profile counts the term; if not, it only leads to longer ones. */
  isCounted: boolean;
  count: number;
  /** The last name that was counted: one that contains a string twice counts once. */
  lastName: number;
}

/** Strings up to this length, in code points, are all counted. */
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
 * Counts in how many names each string stands: every string of one or two code points, and the given longer
 * ones. By code points and letter for letter, as PostgreSQL's LIKE compares under the C collation.
 *
 * A tree of the strings is walked from each letter of a name: a name costs its length times the depth that
 * the tree has there, however many strings there are.
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

  /** @param names lower-cased, as they are stored. @returns how many of them contain each string that any does. */
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
