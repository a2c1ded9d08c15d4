import { Duration, Stack, Validations } from "aws-cdk-lib";
import { Alarm, type IMetric, MathExpression, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import * as codedeploy from "aws-cdk-lib/aws-codedeploy";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Alias } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Api } from "../api.ts";
import { maxMetrics, unexplained } from "../operations/api-alarms.ts";

export interface RolloutProps {
  readonly stage: string;
  readonly api: Api;
  /** The published functions of the API, by module. */
  readonly functions: ReadonlyMap<string, Alias>;
}

const minutes = 1;

/** Crashes and timeouts of a version that gets a share of an alias's invocations. */
const newErrors = ({ lambda, aliasName, version }: Alias): Metric =>
  new Metric({
    namespace: "AWS/Lambda",
    metricName: "Errors",
    // Lambda publishes it while an alias has two versions; no other traffic is in it
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html
    dimensionsMap: {
      FunctionName: lambda.functionName,
      Resource: `${lambda.functionName}:${aliasName}`,
      ExecutedVersion: version.version,
    },
    statistic: "Sum",
    period: Duration.minutes(minutes),
  });

const sumOf = (some: readonly Alias[]): MathExpression => {
  const metrics = some.map((alias, index) => [`new${index}`, newErrors(alias)] as const);
  return new MathExpression({
    label: "errors of new versions",
    expression: metrics.map(([id]) => `FILL(${id}, 0)`).join(" + "),
    usingMetrics: Object.fromEntries(metrics),
    period: Duration.minutes(minutes),
  });
};

/**
 * Shifts the traffic of an API's functions to their new versions: 10 % for five minutes, then the rest. CodeDeploy does so
 * for each alias that CloudFormation updates. All shifts of an API begin together, and one alarm takes all of them back, so
 * that no release is half deployed.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
 */
export class Rollout extends Construct {
  readonly #name: string;

  constructor(scope: Construct, id: string, { stage, api, functions }: RolloutProps) {
    super(scope, id);
    this.#name = `municipal-${stage}-${api.name}-rollout`;
    const alarms = this.#alarms(stage, api, functions);
    const aliases = [...functions.values()];
    const application = new codedeploy.LambdaApplication(this, "Application", {
      applicationName: this.#name,
    });
    const role = this.#role(aliases).withoutPolicyUpdates();
    for (const [fn, alias] of functions) {
      const group = new codedeploy.LambdaDeploymentGroup(this, fn.replaceAll("/", "-"), {
        ...{ application, role, alias, alarms },
        deploymentConfig: codedeploy.LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      });
      // the update policy alone is no dependency that CloudFormation documents
      alias.node.addDependency(group);
    }
  }

  /** An authorizer rejects callers by errors; its failures, and errors that a function answers itself, are the API's 5xx. */
  #alarms(stage: string, api: Api, functions: RolloutProps["functions"]): Alarm[] {
    const routed = [...functions].flatMap(([fn, alias]) =>
      api.authorizers.some((row) => row.fn === fn) ? [] : [alias],
    );
    const parts = Array.from({ length: Math.ceil(routed.length / maxMetrics) }, (_, part) =>
      routed.slice(part * maxMetrics, (part + 1) * maxMetrics),
    );
    return [
      ...parts.map((some, part) =>
        this.#alarm(`crashes-${part + 1}`, "A new version of a function crashes or times out", {
          metric: sumOf(some),
          threshold: 1,
          evaluationPeriods: 1,
        }),
      ),
      this.#alarm("5xx", "Callers get errors that we cause", {
        metric: unexplained(stage, api, minutes),
        threshold: 3,
        evaluationPeriods: 2,
      }),
    ];
  }

  #alarm(
    name: string,
    says: string,
    rings: { metric: IMetric; threshold: number; evaluationPeriods: number },
  ): Alarm {
    return new Alarm(this, name, {
      alarmName: `${this.#name}-${name}`,
      alarmDescription: `${says}: takes a deployment back that is under way. What to do: infra/RUNBOOK.md#deployment-rolled-back`,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...rings,
    });
  }

  /** Less than the policy of AWS, which allows any alias of the account. */
  #role(aliases: readonly Alias[]): Role {
    const { partition, region, account } = Stack.of(this);
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("codedeploy.amazonaws.com"),
      inlinePolicies: {
        shift: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ["lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"],
              resources: aliases.flatMap(({ lambda: { functionArn }, aliasName }) => [
                functionArn,
                `${functionArn}:${aliasName}`,
              ]),
            }),
            new PolicyStatement({
              actions: ["cloudwatch:DescribeAlarms"],
              resources: [`arn:${partition}:cloudwatch:${region}:${account}:alarm:*`],
            }),
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:*]",
      reason:
        "CodeDeploy reads the states of its alarms by a list request, which CloudWatch checks against all alarms",
    });
    return role;
  }
}
