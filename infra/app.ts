// The AWS application: `cdk synth` runs this, as cdk.json says.
import { App } from "aws-cdk-lib";
import { build } from "./build.ts";
import { integrationApi } from "./integration-api.ts";
import { messagingApi } from "./messaging-api.ts";
import { ApiStack } from "./stacks/api.ts";

await build();
const app = new App();
const stage = String(app.node.tryGetContext("stage"));
const { legacyAuthUrl, employeeSystemUrl } = app.node.tryGetContext("upstream");
const upstreamUrls = {
  LEGACY_AUTH_URL: legacyAuthUrl,
  EMPLOYEE_SYSTEM_URL: employeeSystemUrl,
  SESSION_URL: app.node.tryGetContext("sessionUrl"),
};
for (const api of [integrationApi, messagingApi])
  new ApiStack(app, `municipal-${stage}-${api.name}`, { stage, api, upstreamUrls });
app.synth();
