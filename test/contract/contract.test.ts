import { describe } from "vitest";
import { testContract } from "./contract-cases.ts";
import { systemOf, ways } from "./when.ts";

describe.each(ways)("the city %s:", (way) => testContract(systemOf(way)));
