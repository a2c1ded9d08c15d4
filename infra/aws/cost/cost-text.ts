import { App } from "aws-cdk-lib";
import { type DatabaseChoice, examples, readConfig } from "../config.ts";
import { composeStage } from "../stage.ts";
import { billTable } from "./bill-table.ts";
import { idleLines, type Line, requestLines, totalOf } from "./estimate.ts";
import { takeInventory } from "./inventory.ts";

const databases: Readonly<Record<DatabaseChoice["kind"], unknown>> = {
  aurora: { kind: "aurora" },
  instance: { kind: "instance" },
  existing: examples.database.find((choice) => (choice as DatabaseChoice).kind === "existing"),
};
const kinds = Object.keys(databases) as DatabaseChoice["kind"][];

/** Estimates the idle cost of a stage as `cdk.json` has it, with another database; `context` is that file's. */
const idle = (context: Record<string, unknown>, stage: string, kind: DatabaseChoice["kind"]) => {
  // these templates are only counted, never deployed: no validation, no copies of the bundles
  const app = new App({
    context: { ...context, stage, database: databases[kind], "aws:cdk:disable-asset-staging": true },
    outdir: "cdk.out/cost",
    builtinCloudFormationValidation: false,
  });
  composeStage(app, readConfig(app.node, context));
  return idleLines(kind, takeInventory(app));
};

const byKind = <T>(make: (kind: DatabaseChoice["kind"]) => T) =>
  Object.fromEntries(kinds.map((kind) => [kind, make(kind)]));

const totalRow = (what: string, bills: Readonly<Record<string, readonly Line[]>>, factor: number): string => {
  const totals = kinds.map((kind) => `**${(factor * totalOf(bills[kind] ?? [])).toFixed(2)}**`);
  return `\n| ${what} |  | ${totals.join(" | ")} |`;
};

/** The tables of the guide `cost`, calculated from the stage's templates. The bundles must have been built. */
export const costDocument = (context: Record<string, unknown>): string => {
  const production = byKind((kind) => idle(context, "prod", kind));
  const other = byKind((kind) => idle(context, "dev", kind));
  return [
    billTable("Month of production without requests", production),
    totalRow("**Total in a region that costs a third more**", production, 4 / 3),
    totalRow("**Total of any other stage**, in one zone", other, 1),
    "\n\n",
    billTable("Million requests to the resident list", byKind(requestLines)),
  ].join("");
};

/** Replaces the text between the two cost comments. @throws Error when the comments are missing. */
export const replaceCost = (text: string, document: string): string => {
  const [before, after] = [
    text.split("<!-- npm run cost -->")[0],
    text.split("<!-- end of npm run cost -->")[1],
  ];
  if (before === undefined || after === undefined) throw new Error("the text has no cost comments");
  return `${before}<!-- npm run cost -->\n\n${document}\n\n<!-- end of npm run cost -->${after}`;
};
