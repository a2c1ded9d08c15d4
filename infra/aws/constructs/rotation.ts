import { Aws } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnRotationSchedule } from "aws-cdk-lib/aws-secretsmanager";
import { Construct, type IDependable } from "constructs";
import { rotate } from "#lib/routes/internal.ts";
import { type SecretName, secretTable } from "#lib/secrets/table/table.ts";
import { secretsPrefix } from "../stage-names.ts";
import { NodeFunction, type StackContext } from "./node-function.ts";

export interface RotationProps extends StackContext {
  /** ARNs by name, also of secrets that are never rotated. */
  readonly arns: ReadonlyMap<SecretName, string>;
  /** What must exist before: Secrets Manager tests the function when it is attached to a secret. */
  readonly after: readonly IDependable[];
}

/**
 * Configures rotation as in the table of secrets, by our own function. AWS's own rotation functions
 * would need an interface endpoint or NAT in this network, keep their logs without limit, and set a password
 * before anyone could know it: for a moment, and after a failure for longer, nobody could log in.
 */
export class Rotation extends Construct {
  constructor(scope: Construct, id: string, { config, network, arns, after }: RotationProps) {
    super(scope, id);
    const rotated = [...arns].flatMap(([name, secretId]) => {
      const { rotation } = secretTable[name];
      return "never" in rotation ? [] : [{ name, secretId, everyDays: rotation.everyDays }];
    });
    const { lambda } = new NodeFunction(this, {
      ...rotate,
      config,
      network,
      isInside: true,
      environment: { SECRETS_PREFIX: secretsPrefix(config.stage) },
    });
    lambda.addToRolePolicy(
      new PolicyStatement({
        actions: [
          "secretsmanager:DescribeSecret",
          "secretsmanager:GetSecretValue",
          "secretsmanager:PutSecretValue",
          "secretsmanager:UpdateSecretVersionStage",
        ],
        resources: rotated.map(({ secretId }) => secretId),
      }),
    );
    lambda.addPermission("SecretsManager", {
      principal: new ServicePrincipal("secretsmanager.amazonaws.com"),
      sourceAccount: Aws.ACCOUNT_ID,
    });
    for (const { name, secretId, everyDays } of rotated) {
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
