import type { Need, System } from "./system.ts";

/**
 * One rule of the contract. The tests check it on the local system, `npm run smoke` on a deployed stage. It assumes
 * nothing about the data there. Only a login or a text changes anything; a case declares these in its needs.
 */
export interface Case {
  /** What the system does, as a sentence. */
  readonly name: string;
  readonly needs: readonly Need[];
  /** What to check when it fails. */
  readonly fix: string;
  /** @throws Mismatch, or Skipped when the system has no data to show the rule. */
  readonly check: (system: System) => Promise<void>;
}

/** The cases of one service. */
export interface Section {
  readonly title: string;
  readonly cases: readonly Case[];
}
