// The AWS application: `cdk synth` runs this, as cdk.json says.
import { App } from "aws-cdk-lib";
import { integrationApi } from "./api.ts";
import { build } from "./build.ts";
import { ApiStack } from "./stacks/api.ts";

await build();
const app = new App();
const stage = String(app.node.tryGetContext("stage"));
const { legacyAuthUrl, employeeSystemUrl } = app.node.tryGetContext("upstream");
new ApiStack(app, `municipal-${stage}-integration`, {
  stage,
  api: integrationApi,
  upstreamUrls: { LEGACY_AUTH_URL: legacyAuthUrl, EMPLOYEE_SYSTEM_URL: employeeSystemUrl },
});
app.synth();
