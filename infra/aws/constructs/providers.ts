import { type CfnResource, CustomResourceProviderBase, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";

/**
 * The functions behind the CDK's own custom resources log for ever, by a managed policy that opens every log
 * group of the account. Here they log for a stated time, and into their own group alone.
 */
export const confineProviders = (stack: Stack, retention: RetentionDays): void => {
  for (const provider of stack.node.findAll()) {
    if (!(provider instanceof CustomResourceProviderBase)) continue;
    const logs = new LogGroup(provider, "Logs", { retention, removalPolicy: RemovalPolicy.DESTROY });
    const child = (name: string) => provider.node.findChild(name) as CfnResource;
    child("Handler").addPropertyOverride("LoggingConfig", { LogGroup: logs.logGroupName });
    child("Role").addPropertyDeletionOverride("ManagedPolicyArns");
    provider.addToRolePolicy({
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: logs.logGroupArn,
    });
  }
};
