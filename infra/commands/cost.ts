import { readFileSync, writeFileSync } from "node:fs";
import { costDocument, replaceCost } from "../aws/cost/cost-text.ts";
import { build } from "../build/build.ts";

// `npm run cost`: counts anew what a stage costs, and writes it into the README
await build();
const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));
writeFileSync("README.md", replaceCost(readFileSync("README.md", "utf8"), costDocument(context)));
