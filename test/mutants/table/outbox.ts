import type { Mutant } from "../mutant.ts";

export const outbox: readonly Mutant[] = [];
