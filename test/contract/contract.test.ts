import { describe } from "vitest";
import { testContract } from "../steps/contract.ts";
import { systemOf, ways } from "../steps/when.ts";

describe.each(ways)("the city %s:", (way) => testContract(systemOf(way)));
