import type { Mutant } from "../mutant.ts";

export const infrastructure: readonly Mutant[] = [];
