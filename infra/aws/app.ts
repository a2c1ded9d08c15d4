// The CDK application, started by `cdk synth` through cdk.json.
import { readFileSync } from "node:fs";
import { App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { build } from "../build/build.ts";
import { readConfig } from "./config.ts";
import { composeStage } from "./stage.ts";

await build();
const app = new App();
const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));
const config = readConfig(app.node, context);
composeStage(app, config);
Tags.of(app).add("service", "municipal-integration");
Tags.of(app).add("stage", config.stage);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
