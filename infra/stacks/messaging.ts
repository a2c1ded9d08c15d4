import { Stack } from "aws-cdk-lib";
import * as ecs from "aws-cdk-lib/aws-ecs";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { Surroundings } from "../constructs/node-function.ts";

/** The session task, which holds the connection to WhatsApp. */
export class MessagingStack extends Stack {
  readonly task: { readonly logGroup: LogGroup };

  readonly cluster: ecs.Cluster;

  constructor(scope: Construct, id: string, { network }: Surroundings) {
    super(scope, id);
    this.task = { logGroup: new LogGroup(this, "Logs") };
    this.cluster = new ecs.Cluster(this, "Cluster", {
      vpc: network.vpc,
      containerInsightsV2: ecs.ContainerInsights.ENABLED,
    });
  }
}
