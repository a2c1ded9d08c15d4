import { describe, expect, test } from "vitest";
import { loginRoles } from "#lib/db/roles.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { maintain, messengerSecrets, notify } from "#lib/routes/internal.ts";
import type { Upstream } from "#lib/routes/route.ts";
import { mintedSecrets, type Secrets } from "#lib/secrets/table/table.ts";
import { functionName } from "../../infra/build/build.ts";
import { type Resource, synthesizeWith } from "./composed-stage.ts";
import { idOf } from "./template.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Properties = Record<string, any>;

const stage = synthesizeWith({ stage: "prod" });

const many = <T>(value: T | readonly T[]): readonly T[] => [value].flat() as readonly T[];
/** A resource's logical id without the digits that the CDK adds. */
const nameOf = (id: string) => id.replace(/[\dA-F]{8}$/, "");

/** What a statement is about, by its name: a secret's within the stage, that of a construct, or `*`. */
const shown = (resource: unknown, resources: Readonly<Record<string, Resource>>): string => {
  const text = JSON.stringify(resource);
  const id = idOf(resource);
  const secret = /secret:([\w/-]+?)-\?{6}"/.exec(text)?.[1] ?? resources[id]?.Properties?.Name;
  const repository = /cdk-\w+-container-assets/.exec(text)?.[0];
  if (repository) return repository;
  if (text.includes("-audit-anchors")) return "audit-anchors";
  const published = /PublishOutput(?:Ref|FnGetAtt)(\w+?)[\dA-F]{8}\w*"/.exec(text)?.[1];
  if (published) return published;
  if (secret) return secret.replace("municipal/prod/", "");
  const versions = text.includes('":*"') ? ":*" : "";
  return resource === "*" ? "*" : `${nameOf(id)}${versions}`;
};

const granted = ({ Statement }: Properties, resources: Readonly<Record<string, Resource>>): string[] =>
  Statement.flatMap(({ Effect, Action, Resource, Condition }: Properties) =>
    many(Action).flatMap((action) =>
      many(Resource).map((resource) => {
        expect([action, Effect, Condition]).toEqual([action, "Allow", undefined]);
        return `${action} ${shown(resource, resources)}`;
      }),
    ),
  );

/** The permissions of each role of a stack, by the role's name: each action with each resource. */
const rolesOf = (stackName: string): Readonly<Record<string, readonly string[]>> => {
  const resources = stage.resourcesOf(stackName);
  const policies = Object.values(resources).filter(({ Type }) => Type === "AWS::IAM::Policy");
  const roles = Object.entries(resources).filter(([, { Type }]) => Type === "AWS::IAM::Role");
  return Object.fromEntries(
    roles.map(([id, { Properties }]) => {
      const attached = policies.filter(({ Properties: { Roles } }) =>
        Roles.some((role: unknown) => idOf(role) === id),
      );
      const documents = [...(Properties.Policies ?? []), ...attached.map((policy) => policy.Properties)];
      const lines = documents.flatMap(({ PolicyDocument }) => granted(PolicyDocument, resources));
      return [nameOf(id), lines.toSorted()];
    }),
  );
};

const each = (actions: readonly string[], resources: readonly string[]): string[] =>
  resources.flatMap((resource) => actions.map((action) => `${action} ${resource}`));

const logs = (name: string) => each(["logs:CreateLogStream", "logs:PutLogEvents"], [name]);
const reads = (secrets: readonly string[]) =>
  each(["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"], secrets);
/** By these Lambda puts a function into the network. */
const inside = each(
  [
    ...["ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"],
    ...["ec2:DeleteNetworkInterface", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"],
  ],
  ["*"],
);
/** By these something is put into the queue, which is encrypted. */
const setsAside = [
  "sqs:SendMessage DeadLettersQueue",
  ...each(["kms:GenerateDataKey", "kms:Decrypt"], ["DeadLettersKey"]),
];

interface Row {
  readonly fn: string;
  readonly secrets: Secrets;
  readonly upstreams?: readonly Upstream[];
}

/** What a function must be allowed whose row is in a table. */
const ofRow = (scope: string, { fn, secrets, upstreams = [] }: Row): string[] => [
  ...logs(`${scope}${functionName(fn).replaceAll("-", "")}Logs`),
  ...reads(Object.values(secrets)),
  ...("DATABASE_SECRET_ID" in secrets || upstreams.length > 0 ? inside : []),
];

const databaseSecrets = ["database/admin", ...Object.keys(loginRoles).map((role) => `database/${role}`)];

test("each role of the network stack has exactly the permissions it needs", () =>
  expect(rolesOf("municipal-prod-network")).toEqual({
    NetworkVpcRefusedIAMRole: [
      ...logs("NetworkFlowLogs"),
      "logs:DescribeLogStreams NetworkFlowLogs",
    ].toSorted(),
    CustomVpcRestrictDefaultSGCustomResourceProviderRole: [
      ...logs("CustomVpcRestrictDefaultSGCustomResourceProviderLogs"),
      ...each(
        [
          ...["ec2:AuthorizeSecurityGroupIngress", "ec2:AuthorizeSecurityGroupEgress"],
          ...["ec2:RevokeSecurityGroupIngress", "ec2:RevokeSecurityGroupEgress"],
        ],
        ["NetworkVpc"],
      ),
    ].toSorted(),
  }));

test("each role of the data stack has exactly the permissions it needs", () =>
  expect(rolesOf("municipal-prod-data")).toEqual({
    MigrationmigrateRole: [
      ...logs("MigrationmigrateLogs"),
      ...inside,
      ...reads(databaseSecrets),
      "secretsmanager:TagResource database/maintenance",
    ].toSorted(),
    FillingfillsecretsRole: [
      ...logs("FillingfillsecretsLogs"),
      ...each(["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"], mintedSecrets),
    ].toSorted(),
    RotationrotateRole: [
      ...logs("RotationrotateLogs"),
      ...inside,
      ...each(
        [
          ...["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
          ...["secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"],
        ],
        [...databaseSecrets, "messenger-token", "token-key"],
      ),
    ].toSorted(),
    AWSCDKTriggerCustomResourceProviderCustomResourceProviderRole: [
      ...logs("AWSCDKTriggerCustomResourceProviderCustomResourceProviderLogs"),
      ...each(["lambda:InvokeFunction"], ["MigrationmigrateFunction:*", "FillingfillsecretsFunction:*"]),
    ].toSorted(),
  }));

test("the messenger may read its secrets and open the operator's connection; its agent may pull the image and write the log", () =>
  expect(rolesOf("municipal-prod-messaging")).toEqual({
    MessengerDefinitionTaskRole: [
      ...reads(Object.values(messengerSecrets)),
      ...each(
        [
          ...["ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel"],
          ...["ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel"],
        ],
        ["*"],
      ),
    ].toSorted(),
    MessengerDefinitionExecutionRole: [
      ...logs("MessengerLogs"),
      ...each(
        ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
        ["cdk-hnb659fds-container-assets"],
      ),
      "ecr:GetAuthorizationToken *",
    ].toSorted(),
  }));

test("a schedule may call its function, and failed events go to the queue", () =>
  expect(rolesOf("municipal-prod-jobs")).toEqual({
    maintainRole: [...ofRow("", maintain), "s3:PutObject audit-anchors"].toSorted(),
    notifyRole: [...ofRow("", notify), ...setsAside].toSorted(),
    MaintenanceRole: ["lambda:InvokeFunction maintainFunction"],
    NotificationsRole: ["lambda:InvokeFunction notifyFunction", ...setsAside].toSorted(),
  }));

test("operations may protect the database and run the probe, and change nothing else", () =>
  expect(rolesOf("municipal-prod-operations")).toEqual({
    ProbeprobeRole: logs("ProbeprobeLogs").toSorted(),
    ProbeTimetableRole: ["lambda:InvokeFunction ProbeprobeFunction"],
    ProtectionRole: [...logs("ProtectionLogs"), "rds:ModifyDBCluster DatabaseCluster"].toSorted(),
  }));

describe.each(["integration", "messaging"])("of the %s API", (api) => {
  const roles = rolesOf(`municipal-prod-${api}-api`);
  const rows: readonly Row[] = [...routes, ...authorizers].filter(
    ({ fn }) => `Gateway${functionName(fn).replaceAll("-", "")}Role` in roles,
  );

  test("each function may only write its log, read its secrets and use the network if it needs to", () => {
    const expected = rows.map((row) => [
      `Gateway${functionName(row.fn).replaceAll("-", "")}Role`,
      ofRow("Gateway", row).toSorted(),
    ]);
    expect(rows.length).toBeGreaterThan(4);
    expect(roles).toEqual({ ...Object.fromEntries(expected), GatewayApiCloudWatchRole: [] });
  });
});

test("besides the gateways, only this stage's bus rule and this account's Secrets Manager may call a function", () => {
  const permissions = ["data", "messaging", "jobs", "operations"].flatMap((name) =>
    Object.values(stage.resourcesOf(`municipal-prod-${name}`))
      .filter(({ Type }) => Type === "AWS::Lambda::Permission")
      .map(({ Properties: { FunctionName, SourceArn, ...rest } }) => ({
        ...rest,
        FunctionName: nameOf(idOf(FunctionName)),
        ...(SourceArn && { SourceArn: nameOf(idOf(SourceArn)) }),
      })),
  );
  expect(permissions).toEqual([
    {
      Action: "lambda:InvokeFunction",
      FunctionName: "RotationrotateFunction",
      Principal: "secretsmanager.amazonaws.com",
      SourceAccount: { Ref: "AWS::AccountId" },
    },
    {
      Action: "lambda:InvokeFunction",
      FunctionName: "notifyFunction",
      Principal: "events.amazonaws.com",
      SourceArn: "Requests",
    },
  ]);
});

test("a bus rule may put undelivered events into the queue and use its key", () => {
  const own = Object.values(stage.resourcesOf("municipal-prod-jobs"));
  const statementsOf = (type: string, document: string): Properties[] =>
    own.filter(({ Type }) => Type === type).flatMap(({ Properties }) => Properties[document].Statement);
  const ofRules = { Effect: "Allow", Principal: { Service: "events.amazonaws.com" } };
  expect(statementsOf("AWS::SQS::QueuePolicy", "PolicyDocument")).toContainEqual({
    ...ofRules,
    Sid: expect.anything(),
    Action: "sqs:SendMessage",
    Resource: { "Fn::GetAtt": [expect.stringMatching(/^DeadLettersQueue/), "Arn"] },
    Condition: {
      ArnEquals: { "aws:SourceArn": { "Fn::GetAtt": [expect.stringMatching(/^Requests/), "Arn"] } },
    },
  });
  expect(statementsOf("AWS::KMS::Key", "KeyPolicy")).toContainEqual({
    ...ofRules,
    Action: ["kms:Decrypt", "kms:GenerateDataKey"],
    Resource: "*",
  });
});
