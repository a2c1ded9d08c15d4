import type { RouteWords } from "../words.ts";
import { employeeWords } from "./employee.ts";
import { messagingWords } from "./messaging.ts";
import { residentWords } from "./resident.ts";
import { tourismWords } from "./tourism.ts";

/** The words of every documented route, by function, in the document's order. */
export const allWords: Readonly<Record<string, RouteWords>> = {
  ...employeeWords,
  ...residentWords,
  ...tourismWords,
  ...messagingWords,
};
