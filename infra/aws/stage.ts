import type { App } from "aws-cdk-lib";
import type { Api } from "./api.ts";
import type { Config } from "./config.ts";
import { integrationApi } from "./integration-api.ts";
import { messagingApi } from "./messaging-api.ts";
import { ApiStack, type ApiStackProps } from "./stacks/api.ts";
import { DataStack } from "./stacks/data.ts";
import { JobsStack } from "./stacks/jobs.ts";
import { MessagingStack } from "./stacks/messaging.ts";
import { OperationsStack } from "./stacks/operations.ts";

/**
 * Creates the stacks of one stage in order of dependency: data, messaging, APIs, jobs, operations.
 *
 * The bundles must have been built.
 */
export const composeStage = (app: App, config: Config) => {
  const name = (what: string) => `municipal-${config.stage}-${what}`;
  const data = new DataStack(app, name("data"), config);
  const surroundings = { config, network: data.network };
  const messaging = new MessagingStack(app, name("messaging"), surroundings);
  messaging.addStackDependency(data);
  const open = (api: Api, addresses: ApiStackProps["addresses"]) => {
    const stack = new ApiStack(app, name(`${api.name}-api`), { ...surroundings, api, addresses });
    stack.addStackDependency(data);
    stack.addStackDependency(messaging);
    return stack;
  };
  const messagingStack = open(messagingApi, {});
  // its documentation gives the addresses of both
  const integrationStack = open(integrationApi, { MESSAGING_ADDRESS: messagingStack.gateway.baseUrl });
  const apis = [integrationStack, messagingStack];
  const jobs = new JobsStack(app, name("jobs"), surroundings);
  jobs.addStackDependency(data);
  jobs.addStackDependency(messaging);
  const operations = new OperationsStack(app, name("operations"), {
    ...{ config, apis, jobs, server: data.database.server, messengerLog: messaging.task.logGroup },
    watched: [data, messaging, ...apis, jobs],
  });
  for (const stack of [data, messaging, ...apis, jobs]) operations.addStackDependency(stack);
  return { data, messaging, apis, jobs, operations };
};
