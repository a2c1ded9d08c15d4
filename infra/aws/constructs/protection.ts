import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { AwsCustomResource, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import { keepOrDrop } from "../removal.ts";
import type { Server } from "./database.ts";

interface Call {
  readonly action: string;
  readonly parameters: object;
  /** What it may change. */
  readonly arn: string;
  readonly permission: string;
}

const settings = { DeletionProtection: true, ApplyImmediately: true };

const callFor = (server: Server): Call | undefined => {
  if (server.kind === "aurora")
    return {
      ...{ action: "modifyDBCluster", permission: "rds:ModifyDBCluster" },
      parameters: { DBClusterIdentifier: server.cluster.clusterIdentifier, ...settings },
      arn: server.cluster.clusterArn,
    };
  if (server.kind === "instance")
    return {
      ...{ action: "modifyDBInstance", permission: "rds:ModifyDBInstance" },
      parameters: { DBInstanceIdentifier: server.instance.instanceIdentifier, ...settings },
      arn: server.instance.instanceArn,
    };
  return undefined;
};

/**
 * Protects the database from deletion. It belongs to the last stack: a first deployment that fails before
 * deletes what it created, which a protected database would prevent. The template of the database says nothing of its
 * protection, because each update would set what it says.
 */
export class Protection extends Construct {
  constructor(scope: Construct, id: string, { logRetention }: Config, server: Server) {
    super(scope, id);
    const call = callFor(server);
    if (!call) return;
    const logGroup = new LogGroup(this, "Logs", {
      retention: logRetention,
      removalPolicy: keepOrDrop(false),
    });
    const { action, parameters, permission, arn } = call;
    const statements = [
      new PolicyStatement({ actions: [permission], resources: [arn] }),
      new PolicyStatement({
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [logGroup.logGroupArn],
      }),
    ];
    // by default its managed policy may write to every log group of the account
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { Call: new PolicyDocument({ statements }) },
    });
    new AwsCustomResource(this, "Call", {
      resourceType: "Custom::Protection",
      onUpdate: { service: "RDS", action, parameters, physicalResourceId: PhysicalResourceId.of(action) },
      installLatestAwsSdk: false,
      ...{ role, logGroup },
    });
  }
}
