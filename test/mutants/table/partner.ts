import type { Mutant } from "../mutant.ts";

export const partner: readonly Mutant[] = [];
