import { readFileSync, writeFileSync } from "node:fs";
import { languages } from "#lib/openapi/text.ts";
import { costDocument, replaceCost } from "../aws/cost/cost-text.ts";
import { build } from "../build/build.ts";
import { command, runCommand } from "./command.ts";

export const run = command(
  "cost",
  'Calculate what a stage costs and write it into the guide "cost" in each language.',
  (program, answer) => {
    program.action(
      answer(async () => {
        await build();
        const document = costDocument(JSON.parse(readFileSync("cdk.json", "utf8")).context);
        const files = languages.map((language) => `lib/docs/guides/${language}/cost.md`);
        for (const file of files) writeFileSync(file, replaceCost(readFileSync(file, "utf8"), document));
        return { text: `Written: ${files.join(", ")}`, json: { files } };
      }),
    );
  },
);

if (import.meta.main) await runCommand(run);
