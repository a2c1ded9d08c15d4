import type { Mutant } from "../mutant.ts";

export const employee: readonly Mutant[] = [];
