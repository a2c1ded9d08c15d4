import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { CfnEventSubscription } from "aws-cdk-lib/aws-rds";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription, UrlSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import type { Server } from "./database.ts";

const thresholdOf = ({ rings }: AlarmRow) =>
  "below" in rings
    ? { threshold: rings.below, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }
    : { threshold: rings.atLeast, comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD };

/**
 * What the database's server reports of itself. The last category tells of a restart, too.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_Events.Messages.html
 */
const eventsOf = {
  aurora: { sourceType: "db-cluster", eventCategories: ["failover", "failure"] },
  instance: { sourceType: "db-instance", eventCategories: ["failover", "failure", "availability"] },
};

/** The alarms of a stage, and the topic that notifies the operators when one starts and when it ends. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(
    scope: Construct,
    id: string,
    config: Config,
    { rows, server }: { rows: readonly AlarmRow[]; server: Server },
  ) {
    super(scope, id);
    const { stage } = config;
    const topic = this.#topic(config);
    if (server.kind !== "existing") this.#subscribe(topic, server.kind, server.identifier);
    this.all = rows.map((row) => {
      const alarm = new Alarm(this, row.name, {
        alarmName: `municipal-${stage}-${row.name}`,
        alarmDescription: `${row.says} What to do: /docs/runbook#${row.section ?? row.name}`,
        metric: row.metric,
        ...thresholdOf(row),
        evaluationPeriods: row.periods ?? 1,
        treatMissingData: row.silence ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      const action = new SnsAction(topic);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      return alarm;
    });
  }

  #topic({ stage, alarmEmail, alarmUrl }: Config): Topic {
    // no service may use the AWS managed key of SNS
    const key = new Key(this, "Key", {
      description: `Alarms of ${stage}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const topic = new Topic(this, "Topic", {
      topicName: `municipal-${stage}-alarms`,
      masterKey: key,
      enforceSSL: true,
    });
    const { partition, region, account } = Stack.of(this);
    const publishers = {
      cloudwatch: `arn:${partition}:cloudwatch:${region}:${account}:alarm:municipal-${stage}-*`,
      "events.rds": `arn:${partition}:rds:${region}:${account}:*:municipal-${stage}*`,
    };
    for (const [service, sources] of Object.entries(publishers)) {
      const principals = [new ServicePrincipal(`${service}.amazonaws.com`)];
      // without a condition: not every service tells KMS for which account it publishes, and the topic checks that
      key.addToResourcePolicy(
        new PolicyStatement({
          principals,
          actions: ["kms:GenerateDataKey", "kms:Decrypt"],
          resources: ["*"],
        }),
      );
      // a custom policy replaces the default one, which lets the whole account publish
      topic.addToResourcePolicy(
        new PolicyStatement({
          principals,
          actions: ["sns:Publish"],
          resources: [topic.topicArn],
          conditions: {
            ArnLike: { "aws:SourceArn": sources },
            StringEquals: { "aws:SourceAccount": account },
          },
        }),
      );
    }
    topic.addSubscription(new EmailSubscription(alarmEmail));
    if (alarmUrl) topic.addSubscription(new UrlSubscription(alarmUrl));
    return topic;
  }

  #subscribe(topic: Topic, kind: keyof typeof eventsOf, identifier: string) {
    const subscription = new CfnEventSubscription(this, "DatabaseEvents", {
      ...eventsOf[kind],
      snsTopicArn: topic.topicArn,
      sourceIds: [identifier],
    });
    // RDS publishes a first message to check that it may
    subscription.node.addDependency(topic);
  }
}

/** A row of the table of alarms. */
export interface AlarmRow {
  /** Last part of the alarm's name. */
  readonly name: string;
  /** What is wrong and who is affected, for the operator on call. */
  readonly says: string;
  /** Anchor in `lib/docs/guides/en/runbook.md`: meaning, where to look, how to fix it. The name by default. */
  readonly section?: string;
  /** The metric's period is the alarm's period. */
  readonly metric: IMetric;
  /** The threshold: at least, or below. */
  readonly rings: { readonly atLeast: number } | { readonly below: number };
  /** Number of consecutive periods; 1 by default. */
  readonly periods?: number;
  /** `bad`: missing data raises the alarm, as for a heartbeat; one per source that can stop reporting. By default it is good. */
  readonly silence?: "bad";
}
