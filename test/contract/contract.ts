import type { Section } from "./case.ts";
import { tourism } from "./cases/tourism.ts";

/** The contract, service by service. */
export const contract: readonly Section[] = [tourism];
