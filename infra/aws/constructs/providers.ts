import { type CfnResource, CustomResourceProviderBase, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";

/**
 * Limits the functions of the CDK's custom resources. By default their logs never expire, and their managed policy
 * may write to every log group of the account. Here logs expire, and each function may write to its own group only.
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
