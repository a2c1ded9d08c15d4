import type { Mutant } from "../mutant.ts";

export const commands: readonly Mutant[] = [];
