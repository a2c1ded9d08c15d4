import type { Mutant } from "../mutant.ts";

export const media: readonly Mutant[] = [];
