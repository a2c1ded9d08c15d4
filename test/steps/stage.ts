import { readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { readConfig } from "../../infra/config.ts";
import { composeStage } from "../../infra/stage.ts";

const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));

/** The stacks of a stage, from the context of `cdk.json` and what a test puts in its place. */
export const composeWith = (changed: Readonly<Record<string, unknown>> = {}) => {
  const app = new App({ context: { ...context, ...changed } });
  const config = readConfig(app.node);
  return { app, config, ...composeStage(app, config) };
};
