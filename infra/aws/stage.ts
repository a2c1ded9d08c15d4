import type { App } from "aws-cdk-lib";
import type { Api } from "./api.ts";
import { capacityOf, withCapacity } from "./capacity.ts";
import type { Config } from "./config.ts";
import type { GatewayProps } from "./constructs/gateway.ts";
import { integrationApi } from "./integration-api.ts";
import { messagingApi } from "./messaging-api.ts";
import { ApiStack } from "./stacks/api.ts";
import { DataStack } from "./stacks/data.ts";
import { JobsStack } from "./stacks/jobs.ts";
import { MessagingStack } from "./stacks/messaging.ts";
import { NetworkStack } from "./stacks/network.ts";
import { OperationsStack } from "./stacks/operations.ts";

/**
 * Creates the stacks of one stage in order of dependency: network, data, messaging, APIs, jobs, operations.
 *
 * The bundles must have been built.
 */
export const composeStage = (app: App, config: Config) => {
  const name = (what: string) => `municipal-${config.stage}-${what}`;
  const network = new NetworkStack(app, name("network"), config);
  const stackContext = { config, network: network.network };
  const data = new DataStack(app, name("data"), stackContext);
  const messaging = new MessagingStack(app, name("messaging"), stackContext);
  messaging.addStackDependency(data);
  const capacity = capacityOf(config);
  const open = (defined: Api, addresses: GatewayProps["addresses"]) => {
    const api = withCapacity(defined, capacity);
    return new ApiStack(app, name(`${api.name}-api`), { ...stackContext, api, addresses });
  };
  const messagingStack = open(messagingApi, {});
  // its documentation gives the addresses of both
  const integrationStack = open(integrationApi, { MESSAGING_ADDRESS: messagingStack.gateway.baseUrl });
  const apis = [integrationStack, messagingStack];
  const jobs = new JobsStack(app, name("jobs"), { ...stackContext, anchors: data.anchors });
  for (const stack of [...apis, jobs]) for (const base of [data, messaging]) stack.addStackDependency(base);
  const operations = new OperationsStack(app, name("operations"), {
    ...stackContext,
    data,
    messaging,
    apis,
    jobs,
  });
  return { network, data, messaging, apis, jobs, operations };
};
