import { Duration, Stack, Validations } from "aws-cdk-lib";
import * as ecs from "aws-cdk-lib/aws-ecs";
import { DnsRecordType, PrivateDnsNamespace } from "aws-cdk-lib/aws-servicediscovery";
import type { Construct } from "constructs";
import { MessengerTask } from "../constructs/messenger-task.ts";
import type { StackContext } from "../constructs/node-function.ts";
import { messengerHost } from "../stage-names.ts";

/** The messenger, which holds the connection to WhatsApp, with a DNS name in the network. */
export class MessagingStack extends Stack {
  readonly cluster: ecs.ICluster;
  readonly service: ecs.FargateService;
  readonly task: MessengerTask;

  constructor(scope: Construct, id: string, { config, network }: StackContext) {
    super(scope, id);
    const { vpc, vpcSubnets, securityGroup, assignPublicIp } = network.messenger;
    this.cluster = new ecs.Cluster(this, "Cluster", {
      clusterName: `municipal-${config.stage}`,
      vpc,
      containerInsightsV2: ecs.ContainerInsights.DISABLED,
      // a forwarded port carries the console, which shows phone numbers
      executeCommandConfiguration: { logging: ecs.ExecuteCommandLogging.NONE },
    }) as ecs.ICluster;
    Validations.of(this.cluster).acknowledge({
      id: "AwsSolutions-ECS4",
      reason:
        "One service: its processor and memory are metrics without charge, and the messenger logs its own figures",
    });
    this.task = new MessengerTask(this, "Messenger", config);
    this.service = new ecs.FargateService(this, "Service", {
      cluster: this.cluster,
      taskDefinition: this.task.definition,
      vpcSubnets,
      securityGroups: [securityGroup],
      assignPublicIp,
      desiredCount: config.messengerTasks,
      // one by one: a new task accepts messages while the old one still leads, and leads once that has released the lock
      minHealthyPercent: 100,
      maxHealthyPercent: Math.ceil((100 * (config.messengerTasks + 1)) / config.messengerTasks),
      // after the loss of a zone both tasks are in the other one
      availabilityZoneRebalancing:
        config.messengerTasks > 1
          ? ecs.AvailabilityZoneRebalancing.ENABLED
          : ecs.AvailabilityZoneRebalancing.DISABLED,
      circuitBreaker: { enable: true, rollback: true },
      enableExecuteCommand: true,
      propagateTags: ecs.PropagatedTagSource.SERVICE,
      cloudMapOptions: {
        name: messengerHost.name,
        cloudMapNamespace: new PrivateDnsNamespace(this, "Zone", {
          name: messengerHost.zone(config.stage),
          vpc,
        }),
        dnsRecordType: DnsRecordType.A,
        dnsTtl: Duration.seconds(this.task.rememberedSeconds),
      },
    });
  }
}
