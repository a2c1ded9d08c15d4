import type { Mutant } from "../mutant.ts";

export const imports: readonly Mutant[] = [];
