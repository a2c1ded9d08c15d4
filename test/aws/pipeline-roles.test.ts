import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { PipelineRoles } from "../../infra/aws/pipeline-roles.ts";
import { readWorkflow } from "../steps/workflow.ts";

const subject = "repo:city@123456/municipal@789012";

const synthesize = (context: Readonly<Record<string, string>>) =>
  Template.fromStack(new PipelineRoles(new App({ context }), "municipal-pipeline")).toJSON().Resources;

interface Properties {
  readonly RoleName: string;
  readonly AssumeRolePolicyDocument: { readonly Statement: readonly object[] };
  readonly Policies: readonly { readonly PolicyDocument: { readonly Statement: readonly object[] } }[];
}
const rolesOf = (resources: Readonly<Record<string, { Type: string; Properties: Properties }>>) =>
  Object.values(resources).flatMap((one) => (one.Type === "AWS::IAM::Role" ? [one.Properties] : []));

test("each role is assumed only by jobs of one environment of one repository", () => {
  for (const role of rolesOf(synthesize({ subject })))
    expect(role.AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: "Allow",
        Action: "sts:AssumeRoleWithWebIdentity",
        Principal: { Federated: expect.anything() },
        Condition: {
          StringEquals: {
            "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
            "token.actions.githubusercontent.com:sub": `${subject}:environment:${role.RoleName.replace("municipal-pipeline-", "")}`,
          },
        },
      },
    ]);
});

test("a role may only assume roles of the CDK, and that of the review only the one that reads", () => {
  const allowed = rolesOf(synthesize({ subject })).map(({ RoleName, Policies }) => {
    const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    const kinds = [...JSON.stringify(statements).matchAll(/role\/cdk-hnb659fds-([a-z-]+)-role-/g)];
    expect(statements).toEqual([{ Effect: "Allow", Action: "sts:AssumeRole", Resource: expect.anything() }]);
    return [RoleName, kinds.map(([, kind]) => kind)];
  });
  const all = ["deploy", "file-publishing", "image-publishing", "lookup"];
  expect(Object.fromEntries(allowed)).toEqual({
    "municipal-pipeline-dev": all,
    "municipal-pipeline-prod-review": ["lookup"],
    "municipal-pipeline-prod": all,
  });
});

test("there is a role for each environment of the workflow", () => {
  const { jobs } = readWorkflow();
  const used = jobs.flatMap(({ environment }) => environment ?? []);
  const names = rolesOf(synthesize({ subject })).map(({ RoleName }) => RoleName);
  expect(names.toSorted()).toEqual(used.map((one) => `municipal-pipeline-${one}`).toSorted());
});

test("an account of production alone has no role for dev, and may have the provider already", () => {
  const context = { subject, environments: "prod-review,prod", provider: "existing" };
  const resources = synthesize(context);
  expect(rolesOf(resources).map(({ RoleName }) => RoleName)).toHaveLength(2);
  expect(Object.keys(resources)).toHaveLength(2);
});

test.each([
  ["subject", {}],
  ["subject", { subject: "repo:city/*" }],
  ["subject", { subject: "repo:city/municipal:ref:refs/heads/main" }],
  ["environments", { subject, environments: "staging" }],
  ["provider", { subject, provider: "none" }],
])("refuses a wrong or missing %s: %o", (key, context) =>
  expect(() => synthesize(context)).toThrow(`context key "${key}"`),
);
