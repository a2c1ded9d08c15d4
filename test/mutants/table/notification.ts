import type { Mutant } from "../mutant.ts";

export const notification: readonly Mutant[] = [];
