import { readFileSync, writeFileSync } from "node:fs";
import { languages } from "#lib/openapi/text.ts";
import { costDocument, replaceCost } from "../aws/cost/cost-text.ts";
import { build } from "../build/build.ts";

// `npm run cost`: recalculates what a stage costs and writes it into the guide `cost`
await build();
const document = costDocument(JSON.parse(readFileSync("cdk.json", "utf8")).context);
for (const file of languages.map((language) => `lib/docs/guides/${language}/cost.md`))
  writeFileSync(file, replaceCost(readFileSync(file, "utf8"), document));
