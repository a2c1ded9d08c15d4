import { describe, expect, test } from "vitest";
import { loginRoles } from "#lib/db/roles.ts";
import { inventions } from "#lib/inventions.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { functionName } from "../../infra/build.ts";
import { sessionSecrets } from "../../infra/session-secrets.ts";
import { type Resource, synthesizeWith } from "../steps/stage.ts";

const { all, list } = synthesizeWith({ stage: "prod" });

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const many = <T>(value: T | readonly T[]): readonly T[] => [value].flat() as readonly T[];

/** What a role may do: of its own policies and of those that are attached to it. */
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

const secretIds = new Map(
  list("SecretsManager::Secret").map(([id, { Properties }]) => [id, Properties.Name]),
);

/** The names, within the stage, of the secrets that a statement is about. */
const secretsIn = (statement: Statement): string[] =>
  many(statement.Resource).flatMap((resource) => {
    const text = JSON.stringify(resource);
    const byName = /secret:(municipal\/prod\/[\w/-]+?)-\?{6}/.exec(text)?.[1];
    const name = byName ?? secretIds.get(/"Ref":"(\w+)"/.exec(text)?.[1] ?? "");
    return name ? [name.replace("municipal/prod/", "")] : [];
  });

const grants = (roleId: string, action: string): string[] =>
  statementsOf(roleId)
    .filter(({ Action }) => many(Action).includes(`secretsmanager:${action}`))
    .flatMap(secretsIn)
    .toSorted();

/** The function of a module, by what the template calls it. */
const findFunction = (fn: string): Resource => {
  const place = functionName(fn).replaceAll("-", "");
  const found = list("Lambda::Function").filter(([id]) => id.includes(`${place}Function`));
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} functions of ${fn}`);
  return found[0][1];
};

describe("a function reads exactly its own secrets, and writes none", () => {
  test.each([...routes, ...authorizers].map((row) => [row.fn, Object.values(row.secrets)] as const))(
    "%s: %o",
    (fn, secrets) => {
      const role = roleOf(findFunction(fn));
      expect(grants(role, "GetSecretValue")).toEqual(secrets.toSorted());
      expect(grants(role, "PutSecretValue")).toEqual([]);
    },
  );
});

const ofRoles = Object.keys(loginRoles).map((role) => `database/${role}`);

test("the migration reads the administrator's and the roles' secrets, and writes none", () => {
  const role = roleOf(findFunction("migrate"));
  expect(grants(role, "GetSecretValue")).toEqual([...ofRoles, "database/admin"].toSorted());
  expect(grants(role, "PutSecretValue")).toEqual([]);
});

test("what fills secrets reads and writes those that the template leaves empty", () => {
  const role = roleOf(findFunction("fill-secrets"));
  for (const action of ["GetSecretValue", "PutSecretValue"])
    expect(grants(role, action)).toEqual(Object.keys(inventions).toSorted());
});

test("what rotates secrets writes those that have a schedule", () => {
  const role = roleOf(findFunction("rotate"));
  const scheduled = list("SecretsManager::RotationSchedule").map(([, { Properties }]) =>
    secretIds.get(Properties.SecretId.Ref)?.replace("municipal/prod/", ""),
  );
  expect(grants(role, "PutSecretValue")).toEqual(scheduled.toSorted());
  expect(scheduled).toEqual(
    expect.arrayContaining([...ofRoles, "database/admin", "token-key", "session-token"]),
  );
});

test("the session task reads exactly its own secrets", () => {
  const [, definition] = list("ECS::TaskDefinition")[0] ?? [];
  const role = definition?.Properties.TaskRoleArn["Fn::GetAtt"][0];
  expect(grants(role, "GetSecretValue")).toEqual(Object.values(sessionSecrets).toSorted());
});

test("no two functions share a role", () => {
  const roles = list("Lambda::Function").map(([, resource]) => roleOf(resource));
  expect(new Set(roles).size).toBe(roles.length);
});

test("no role has a policy that AWS keeps, but the account's by which API Gateway writes its logs", () => {
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

test("no policy has a wildcard for an action, nor for a resource but where an action takes none", () => {
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
