import type { Mutant } from "../mutant.ts";

export const sender: readonly Mutant[] = [];
