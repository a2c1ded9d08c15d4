import { RemovalPolicy } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { AwsCustomResource, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import type { Server } from "./database.ts";

/** What protects each kind of server. */
const calls = {
  aurora: { action: "modifyDBCluster", permission: "rds:ModifyDBCluster", key: "DBClusterIdentifier" },
  instance: { action: "modifyDBInstance", permission: "rds:ModifyDBInstance", key: "DBInstanceIdentifier" },
};

/**
 * Protects the database from deletion. It belongs to the last stack: a first deployment that fails before
 * deletes what it created, which a protected database would prevent. The template of the database says nothing of its
 * protection, because each update would set what it says.
 */
export class Protection extends Construct {
  constructor(scope: Construct, id: string, { logRetention }: Config, server: Server) {
    super(scope, id);
    if (server.kind === "existing") return;
    const { action, permission, key } = calls[server.kind];
    const logGroup = new LogGroup(this, "Logs", {
      retention: logRetention,
      removalPolicy: keepOrDrop(false),
    });
    const statements = [
      new PolicyStatement({ actions: [permission], resources: [server.arn] }),
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
      onUpdate: {
        ...{ service: "RDS", action, physicalResourceId: PhysicalResourceId.of(action) },
        parameters: { [key]: server.identifier, DeletionProtection: true, ApplyImmediately: true },
      },
      installLatestAwsSdk: false,
      ...{ role, logGroup },
    });
  }
}

/**
 * Returns the removal policy: resources with data are retained in production. A creation that is rolled back deletes them:
 * they are empty, and their fixed names would block the next attempt.
 */
export const keepOrDrop = (keeps: boolean): RemovalPolicy =>
  keeps ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
