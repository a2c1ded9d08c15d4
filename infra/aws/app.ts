// The CDK application, started by `cdk synth` through cdk.json.
import { App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { build } from "../build/build.ts";
import { readConfig } from "./config.ts";
import { composeStage } from "./stage.ts";

await build();
const app = new App();
const config = readConfig(app.node);
composeStage(app, config);
Tags.of(app).add("service", "municipal-integration");
Tags.of(app).add("stage", config.stage);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
