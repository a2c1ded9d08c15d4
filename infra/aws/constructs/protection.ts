import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { AwsCustomResource, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import { keepOrDrop } from "../removal.ts";
import type { DataStack } from "../stacks/data.ts";

interface Call {
  readonly service: string;
  readonly action: string;
  readonly parameters: object;
  /** What it may change. */
  readonly arn: string;
  readonly permission: string;
}

const callsFor = ({ stackName, stackId, database: { server } }: DataStack): readonly Call[] => {
  const ends: Call = {
    service: "CloudFormation",
    action: "updateTerminationProtection",
    parameters: { StackName: stackName, EnableTerminationProtection: true },
    arn: stackId,
    permission: "cloudformation:UpdateTerminationProtection",
  };
  const settings = { DeletionProtection: true, ApplyImmediately: true };
  switch (server.kind) {
    case "aurora":
      return [
        ends,
        {
          ...{ service: "RDS", action: "modifyDBCluster", permission: "rds:ModifyDBCluster" },
          parameters: { DBClusterIdentifier: server.cluster.clusterIdentifier, ...settings },
          arn: server.cluster.clusterArn,
        },
      ];
    case "instance":
      return [
        ends,
        {
          ...{ service: "RDS", action: "modifyDBInstance", permission: "rds:ModifyDBInstance" },
          parameters: { DBInstanceIdentifier: server.instance.instanceIdentifier, ...settings },
          arn: server.instance.instanceArn,
        },
      ];
    case "existing":
      return [ends];
  }
};

/**
 * Protects the database and its stack from deletion. It belongs to the last stack: a first deployment that fails before
 * deletes what it created, which protected resources would prevent. The template of the database says nothing of its
 * protection, because each update would set what it says.
 */
export class Protection extends Construct {
  constructor(scope: Construct, id: string, { logRetention }: Config, data: DataStack) {
    super(scope, id);
    const logGroup = new LogGroup(this, "Logs", {
      retention: logRetention,
      removalPolicy: keepOrDrop(false),
    });
    const calls = callsFor(data);
    const statements = calls.map(
      ({ permission, arn }) => new PolicyStatement({ actions: [permission], resources: [arn] }),
    );
    const writes = ["logs:CreateLogStream", "logs:PutLogEvents"];
    statements.push(new PolicyStatement({ actions: writes, resources: [logGroup.logGroupArn] }));
    // by default its managed policy may write to every log group of the account
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { Calls: new PolicyDocument({ statements }) },
    });
    for (const { service, action, parameters } of calls)
      new AwsCustomResource(this, action, {
        resourceType: "Custom::Protection",
        onUpdate: { service, action, parameters, physicalResourceId: PhysicalResourceId.of(action) },
        role,
        installLatestAwsSdk: false,
        logGroup,
      });
  }
}
