import { Duration, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Trigger } from "aws-cdk-lib/triggers";
import { Construct } from "constructs";
import { secretsPrefix } from "../stage-names.ts";
import { NodeFunction, type NodeFunctionProps, type StackContext } from "./node-function.ts";

/** The provider function waits no longer than this for the result. */
const maxSeconds = 14 * 60;

export interface DeployStepProps
  extends Pick<NodeFunctionProps, "fn" | "environment" | "isInside">,
    StackContext {
  /** What it may do with these secrets. */
  readonly actions: string[];
  readonly secretArns: string[];
}

/**
 * A function that runs during each deployment that changes its code or its settings. The deployment waits for it,
 * and is rolled back when it throws.
 */
export class DeployStep extends Construct {
  readonly lambda: NodeFunction["lambda"];
  readonly trigger: Trigger;

  constructor(scope: Construct, id: string, { actions, secretArns, environment, ...props }: DeployStepProps) {
    super(scope, id);
    const { lambda } = new NodeFunction(this, {
      ...props,
      secrets: {},
      environment: { SECRETS_PREFIX: secretsPrefix(props.config.stage), ...environment },
      timeoutSeconds: maxSeconds,
      memoryMb: 512,
    });
    lambda.addToRolePolicy(new PolicyStatement({ actions, resources: secretArns }));
    this.lambda = lambda;
    this.trigger = new Trigger(this, "Trigger", {
      handler: lambda,
      timeout: Duration.seconds(maxSeconds + 30),
      executeAfter: [lambda],
    });
    const provider = Stack.of(this).node.findChild(
      "AWSCDK.TriggerCustomResourceProviderCustomResourceProvider",
    );
    Validations.of(provider).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${Stack.of(this).getLogicalId(lambda.node.defaultChild as never)}.Arn>:*]`,
      reason: "The CDK's trigger calls the versions of this one function; each deployment makes a new one",
    });
  }
}
