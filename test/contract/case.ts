import type { Need, System } from "./system.ts";

/**
 * One rule of the contract, to be asked of any system: the local one by the tests, a deployed stage by
 * `npm run smoke`. It knows nothing of the data there, and changes nothing but by a login or a text, which
 * it declares by what it needs.
 */
export interface Case {
  /** What the system does, as a sentence. */
  readonly name: string;
  readonly needs: readonly Need[];
  /** Where to look when it does not. */
  readonly mend: string;
  /** @throws Mismatch, or NotAsked where the data is missing that would show it. */
  readonly check: (system: System) => Promise<void>;
}

/** The cases of one service. */
export interface Section {
  readonly title: string;
  readonly cases: readonly Case[];
}
