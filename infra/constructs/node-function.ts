import { Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import type { Secrets, Upstream } from "#lib/routes/route.ts";
import { bundleFolder, functionName } from "../build.ts";
import { secretName } from "../secret-name.ts";

export interface NodeFunctionProps {
  readonly stage: string;
  /** Module under `functions/`; its bundle must have been built. */
  readonly fn: string;
  readonly secrets: Secrets;
  /** The systems that the function calls. */
  readonly upstreams?: readonly Upstream[];
  /** Where the stage's systems are. */
  readonly upstreamUrls: Readonly<Record<Upstream, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** A function from its bundle, with a role of its own that may read exactly the secrets it names. */
export class NodeFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, props: NodeFunctionProps) {
    const { stage, fn, secrets, upstreams = [], upstreamUrls, timeoutSeconds, memoryMb } = props;
    super(scope, functionName(fn));
    const named = Object.entries(secrets).map(
      ([variable, name]) => [variable, secretName(stage, name)] as const,
    );
    this.lambda = new LambdaFunction(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundleFolder(fn)),
      handler: "index.handler",
      timeout: Duration.seconds(timeoutSeconds),
      memorySize: memoryMb,
      loggingFormat: LoggingFormat.JSON,
      logGroup: new LogGroup(this, "Logs", {
        retention: RetentionDays.THREE_MONTHS,
        removalPolicy: RemovalPolicy.DESTROY,
      }),
      environment: {
        ...Object.fromEntries(named),
        ...Object.fromEntries(upstreams.map((name) => [name, upstreamUrls[name]])),
        // the runtime's own file holds the CAs of RDS; Node 20 and later do not read it by themselves
        NODE_EXTRA_CA_CERTS: "/var/runtime/ca-cert.pem",
      },
    });
    for (const [variable, name] of named)
      Secret.fromSecretNameV2(this, variable, name).grantRead(this.lambda);
  }
}
