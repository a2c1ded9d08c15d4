import type { Mutant } from "../mutant.ts";

export const resident: readonly Mutant[] = [];
