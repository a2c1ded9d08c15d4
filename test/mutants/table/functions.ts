import type { Mutant } from "../mutant.ts";

export const functions: readonly Mutant[] = [];
