import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { InternalFunction } from "#lib/routes/internal.ts";
import { bundleFolder, functionName } from "../../build/build.ts";
import { capacityOf } from "../capacity.ts";
import type { Config } from "../config.ts";
import { cityVariables, secretName, upstreamUrls } from "../stage-names.ts";
import type { Network } from "./network.ts";

/** The configuration and network of every function of a stage. */
export interface StackContext {
  readonly config: Config;
  readonly network: Network;
}

/** The bundle of the function must have been built. */
export interface NodeFunctionProps extends StackContext, InternalFunction {
  /** Environment variables in addition to those for secrets and systems. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the function runs in the network. By default, when it calls more than Secrets Manager. */
  readonly isInside?: boolean;
  /** Queue for events whose asynchronous invocations all failed. */
  readonly deadLetters?: IQueue;
}

/**
 * Lambda creates and removes the function's network interfaces with the function's role.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
const networkInterfaces = () =>
  new PolicyStatement({
    actions: [
      "ec2:CreateNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:DeleteNetworkInterface",
      "ec2:AssignPrivateIpAddresses",
      "ec2:UnassignPrivateIpAddresses",
    ],
    resources: ["*"],
  });

/** A function from its bundle, with its own role, which may read only the secrets that the function names. */
export class NodeFunction extends Construct {
  readonly fn: string;
  readonly lambda: lambda.Function;

  constructor(scope: Construct, props: NodeFunctionProps) {
    const { config, network, fn, secrets, upstreams = [], environment, timeoutSeconds, memoryMb } = props;
    const { isInside = "DATABASE_SECRET_ID" in secrets || upstreams.length > 0, deadLetters } = props;
    super(scope, functionName(fn));
    this.fn = fn;
    const named = Object.entries(secrets).map(
      ([variable, name]) => [variable, secretName(config.stage, name)] as const,
    );
    const urls = upstreamUrls(config);
    const reserved = capacityOf(config).reserved.get(fn);
    const { securityGroup, ...place } = network.functions;
    const logGroup = new LogGroup(this, "Logs", {
      retention: config.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.lambda = new lambda.Function(this, "Function", {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: lambda.Code.fromAsset(bundleFolder(fn)),
      handler: "index.handler",
      timeout: Duration.seconds(timeoutSeconds),
      memorySize: memoryMb,
      loggingFormat: lambda.LoggingFormat.JSON,
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
      logGroup,
      role: this.#role(isInside),
      ...(deadLetters && { deadLetterQueue: deadLetters }),
      ...(isInside && { ...place, securityGroups: [securityGroup] }),
      environment: {
        // without NAT an IPv4 address is unreachable, and costs 250 ms if it is tried first
        ...(isInside && place.ipv6AllowedForDualStack && { NODE_OPTIONS: "--dns-result-order=ipv6first" }),
        ...Object.fromEntries(named),
        ...Object.fromEntries(upstreams.map((name) => [name, urls[name]])),
        ...cityVariables(config),
        ...environment,
        // the runtime ships the CAs of RDS; Node 20 and later do not read that file by default
        NODE_EXTRA_CA_CERTS: "/var/runtime/ca-cert.pem",
      },
    });
    logGroup.grantWrite(this.lambda);
    for (const [variable, name] of named)
      Secret.fromSecretNameV2(this, variable, name).grantRead(this.lambda);
  }

  #role(isInside: boolean) {
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      ...(isInside && {
        inlinePolicies: { network: new PolicyDocument({ statements: [networkInterfaces()] }) },
      }),
    });
    if (isInside)
      Validations.of(role).acknowledge({
        id: "AwsSolutions-IAM5[Resource::*]",
        reason:
          "Lambda attaches the function to the network by these actions on network interfaces, which do not exist before and take no resource in a policy",
      });
    return role;
  }
}
