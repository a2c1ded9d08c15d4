import { readFileSync } from "node:fs";
import { build } from "../build.ts";
import { costDocument } from "../cost/document.ts";

// `npm run cost`: what a stage costs, as the README tells it
await build();
console.log(costDocument(JSON.parse(readFileSync("cdk.json", "utf8")).context));
