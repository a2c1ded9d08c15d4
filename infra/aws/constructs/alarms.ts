import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import type { AlarmRow } from "../operations/alarm.ts";

const thresholdOf = ({ rings }: AlarmRow) =>
  "below" in rings
    ? { threshold: rings.below, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }
    : { threshold: rings.atLeast, comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD };

/** The alarms of a stage, and the topic that sends an e-mail when one starts and when it ends. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { stage, alarmEmail }: Config, rows: readonly AlarmRow[]) {
    super(scope, id);
    const topic = this.#topic(stage, alarmEmail);
    this.all = rows.map((row) => {
      const alarm = new Alarm(this, row.name, {
        alarmName: `municipal-${stage}-${row.name}`,
        alarmDescription: `${row.says} What to do: infra/RUNBOOK.md#${row.section ?? row.name}`,
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

  #topic(stage: string, email: string): Topic {
    // CloudWatch may not use the AWS managed key of SNS
    const key = new Key(this, "Key", {
      description: `Alarms of ${stage}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["kms:GenerateDataKey", "kms:Decrypt"],
        resources: ["*"],
      }),
    );
    const topic = new Topic(this, "Topic", {
      topicName: `municipal-${stage}-alarms`,
      masterKey: key,
      enforceSSL: true,
    });
    // a custom policy replaces the default one, which lets the whole account publish
    const { partition, region, account } = Stack.of(this);
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: {
          ArnLike: {
            "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:municipal-${stage}-*`,
          },
        },
      }),
    );
    topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}
