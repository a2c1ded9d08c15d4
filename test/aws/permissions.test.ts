import { expect, test } from "vitest";
import { type Resource, synthesizeWith } from "./composed-stage.ts";

const { all, list } = synthesizeWith({ stage: "prod" });

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const many = <T>(value: T | readonly T[]): readonly T[] => [value].flat() as readonly T[];

/** The permissions of a role, from its inline and attached policies. */
const statementsOf = (roleId: string): Statement[] => {
  const attached = list("IAM::Policy").filter(([, { Properties }]) =>
    JSON.stringify(Properties.Roles).includes(`"${roleId}"`),
  );
  const own = all.find(([id]) => id === roleId)?.[1].Properties.Policies ?? [];
  return [...attached.map(([, { Properties }]) => Properties), ...own].flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
};

const roleOf = ({ Properties }: Resource): string => Properties.Role["Fn::GetAtt"][0];

test("no two functions share a role", () => {
  const roles = list("Lambda::Function").map(([, resource]) => roleOf(resource));
  expect(new Set(roles).size).toBe(roles.length);
});

test("only the account's role for API Gateway logs has an AWS managed policy", () => {
  const kept = list("IAM::Role").flatMap(([, { Properties }]) => Properties.ManagedPolicyArns ?? []);
  const names = new Set(kept.map((arn) => /policy\/[\w/-]+/.exec(JSON.stringify(arn))?.[0]));
  expect([...names]).toEqual(["policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"]);
});

/** Actions that take no resource in a policy, by the service's own reference, and what they are for. */
const withoutResource = [
  /^ec2:(Create|Describe|Delete)NetworkInterfaces?$/,
  /^ec2:(Describe(Subnets)|(Una|A)ssignPrivateIpAddresses)$/,
  /^ecr:GetAuthorizationToken$/,
  /^ssmmessages:(Create|Open)(Control|Data)Channel$/,
];

test("no policy has a wildcard action, or a wildcard resource for an action that supports resources", () => {
  const roles = list("IAM::Role").map(([id]) => id);
  const statements = roles.flatMap((role) => statementsOf(role).map((statement) => ({ role, statement })));
  expect(statements.length).toBeGreaterThan(50);
  for (const { role, statement } of statements) {
    const actions = many(statement.Action);
    expect([role, actions.filter((action) => action.includes("*"))]).toEqual([role, []]);
    if (many(statement.Resource).includes("*"))
      expect([
        role,
        actions.filter((action) => !withoutResource.some((known) => known.test(action))),
      ]).toEqual([role, []]);
  }
});
