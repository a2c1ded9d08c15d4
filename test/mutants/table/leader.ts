import type { Mutant } from "../mutant.ts";

export const leader: readonly Mutant[] = [];
