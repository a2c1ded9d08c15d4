import { Aws } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnRotationSchedule } from "aws-cdk-lib/aws-secretsmanager";
import { Construct, type IDependable } from "constructs";
import { NodeFunction, type Surroundings } from "./node-function.ts";

export interface RotationProps extends Surroundings {
  /** ARNs, by a name for each. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What must be there before: Secrets Manager tries the function out when it is given a secret. */
  readonly after: readonly IDependable[];
}

const everyDays = 30;

/**
 * Has Secrets Manager give each of the secrets a new value every month, by a function of ours. AWS's own
 * rotation functions would need an interface endpoint or NAT in this network, log for ever, and set a password
 * before anyone could know it: for a moment, and after a failure for longer, nobody could log in.
 */
export class Rotation extends Construct {
  constructor(scope: Construct, id: string, { config, network, secrets, after }: RotationProps) {
    super(scope, id);
    const { lambda } = new NodeFunction(this, {
      ...{ config, network, fn: "rotate", secrets: {} },
      isInside: true,
      timeoutSeconds: 60,
      memoryMb: 256,
    });
    lambda.addToRolePolicy(
      new PolicyStatement({
        actions: [
          "secretsmanager:DescribeSecret",
          "secretsmanager:GetSecretValue",
          "secretsmanager:PutSecretValue",
          "secretsmanager:UpdateSecretVersionStage",
        ],
        resources: Object.values(secrets),
      }),
    );
    lambda.addPermission("SecretsManager", {
      principal: new ServicePrincipal("secretsmanager.amazonaws.com"),
      sourceAccount: Aws.ACCOUNT_ID,
    });
    for (const [name, secretId] of Object.entries(secrets)) {
      const schedule = new CfnRotationSchedule(this, name, {
        secretId,
        rotationLambdaArn: lambda.functionArn,
        rotateImmediatelyOnUpdate: false,
        rotationRules: { scheduleExpression: `rate(${everyDays} days)`, duration: "4h" },
      });
      schedule.node.addDependency(lambda, ...after);
    }
  }
}
