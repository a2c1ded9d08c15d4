import { describe, expect, test } from "vitest";
import { loginRoles } from "#lib/db/roles.ts";
import { mintedSecrets, secretTable } from "#lib/secrets/table/table.ts";
import { examples } from "../../infra/aws/config.ts";
import { synthesizeWith } from "./composed-stage.ts";

const [aurora, instance, existing] = examples.database;
const onAurora = synthesizeWith({ stage: "prod", database: aurora });
const onInstance = synthesizeWith({ stage: "prod", database: instance });
const onExisting = synthesizeWith({ stage: "prod", database: existing });
const inDev = synthesizeWith({ stage: "dev", database: aurora });

type Stage = ReturnType<typeof synthesizeWith>;

const find = ({ all }: Stage, type: string) => {
  const found = all.find(([, { Type }]) => Type === type);
  if (!found) throw new Error(`no ${type}`);
  return { id: found[0], ...found[1] };
};

describe.each([
  ["aurora", onAurora, "AWS::RDS::DBCluster"],
  ["instance", onInstance, "AWS::RDS::DBInstance"],
])("a database of the kind %s", (_, stage, type) => {
  const server = find(stage, type);

  test("is kept in production, encrypted, and backed up for a month", () => {
    expect([server.DeletionPolicy, server.UpdateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
    const { StorageEncrypted, BackupRetentionPeriod } = server.Properties;
    expect([StorageEncrypted, BackupRetentionPeriod]).toEqual([true, 30]);
  });

  test("accepts only encrypted connections, and logs neither rows nor parameters", () => {
    const [, group] =
      [...stage.list("RDS::DBClusterParameterGroup"), ...stage.list("RDS::DBParameterGroup")][0] ?? [];
    expect(group?.Properties.Parameters).toEqual({
      "rds.force_ssl": "1",
      password_encryption: "scram-sha-256",
      log_error_verbosity: "terse",
      log_min_error_statement: "panic",
      log_parameter_max_length: "0",
      log_parameter_max_length_on_error: "0",
      // 94 for each GiB: four capacity units of Aurora have 8, a small instance 2
      max_connections: type === "AWS::RDS::DBCluster" ? "752" : "188",
    });
  });

  test("is in no public subnet, and in two zones", () => {
    const [, group] = stage.list("RDS::DBSubnetGroup")[0] ?? [];
    expect(JSON.stringify(group?.Properties.SubnetIds)).not.toContain("public");
    for (const [, { Properties }] of stage.list("RDS::DBInstance"))
      expect(Properties.PubliclyAccessible ?? false).toBe(false);
    const servers = stage.list("RDS::DBInstance");
    expect(servers.length > 1 || servers[0]?.[1].Properties.MultiAZ).toBe(true);
  });

  test("logs to a group with a retention time", () => {
    const name = `/aws/rds/${type === "AWS::RDS::DBCluster" ? "cluster" : "instance"}/municipal-prod/postgresql`;
    const group = stage.list("Logs::LogGroup").find(([, { Properties }]) => Properties.LogGroupName === name);
    expect(group?.[1].Properties.RetentionInDays).toBe(90);
    expect(server.Properties.EnableCloudwatchLogsExports).toEqual(["postgresql"]);
  });
});

test("in production, the backups of an instance are kept when it is deleted", () =>
  expect(find(onInstance, "AWS::RDS::DBInstance").Properties.DeleteAutomatedBackups).toBe(false));

test("a stage that is not production keeps nothing", () => {
  const cluster = find(inDev, "AWS::RDS::DBCluster");
  expect([cluster.DeletionPolicy, cluster.UpdateReplacePolicy]).toEqual(["Delete", "Delete"]);
});

test("in production, database log and network log are kept when their stack is deleted", () => {
  const isKept = ([, { Properties, DeletionPolicy }]: ReturnType<Stage["list"]>[number]) =>
    [Properties.LogGroupName, DeletionPolicy] as const;
  const logs = onAurora.list("Logs::LogGroup").filter(([id]) => /^(Database|NetworkFlow)Logs/.test(id));
  expect(logs.map(isKept)).toEqual([
    [undefined, "RetainExceptOnCreate"],
    ["/aws/rds/cluster/municipal-prod/postgresql", "RetainExceptOnCreate"],
  ]);
});

test("a stage can be created again: what is deleted with its stacks, or by a rollback of the first creation, leaves no name", () => {
  const kept = (stage: Stage, policies: readonly (string | undefined)[]) =>
    stage.all
      .filter(([, { DeletionPolicy }]) => policies.includes(DeletionPolicy))
      // one role of API Gateway serves the whole account
      .filter(([id]) => !/^Gateway(Api)?(CloudWatchRole|Account)/.test(id))
      .map(([id]) => id);
  expect(kept(inDev, ["Retain", "RetainExceptOnCreate", "Snapshot"])).toEqual([]);
  expect(kept(onAurora, ["Retain", "Snapshot"])).toEqual([]);
});

test("in production, every secret is kept when its stack is deleted", () => {
  for (const [id, { DeletionPolicy }] of onAurora.list("SecretsManager::Secret"))
    expect([id, DeletionPolicy]).toEqual([id, "RetainExceptOnCreate"]);
});

test.each([
  ["a cluster", onAurora],
  ["an instance", onInstance],
])("%s is in the isolated subnets", (_, stage) => {
  const [, group] = stage.list("RDS::DBSubnetGroup")[0] ?? [];
  expect(group?.Properties.SubnetIds).toEqual(
    [1, 2].map((n) => ({
      "Fn::ImportValue": expect.stringMatching(`NetworkVpcdatabaseSubnet${n}Subnet`),
    })),
  );
});

test("an existing database gets the roles, and no server is created", () => {
  expect(onExisting.all.filter(([, { Type }]) => Type.startsWith("AWS::RDS::"))).toEqual([]);
  const [, migrate] = onExisting.list("Lambda::Function").find(([id]) => id.includes("migrate")) ?? [];
  expect(migrate?.Properties.Environment.Variables).toMatchObject({
    DATABASE_SECRET_ID: "municipal/admin",
    DATABASE_HOST: "database.city.example",
    DATABASE_PORT: "5432",
  });
});

describe.each([
  ["aurora", onAurora],
  ["instance", onInstance],
  ["existing", onExisting],
])("with a database of the kind %s", (kind, stage) => {
  const trigger = (fn: string) => {
    const found = stage.all.find(([id, { Type }]) => Type === "Custom::Trigger" && id.startsWith(fn));
    if (!found) throw new Error(`no trigger of ${fn}`);
    return { id: found[0], ...found[1] };
  };

  test("each login role and each use has a secret, whose value appears in no template", () => {
    const names = stage.list("SecretsManager::Secret").map(([, { Properties }]) => Properties.Name);
    expect(names.toSorted()).toEqual(
      [
        ...(kind === "existing" ? [] : ["database/admin"]),
        ...Object.keys(loginRoles).map((role) => `database/${role}`),
        ...mintedSecrets,
      ]
        .map((name) => `municipal/prod/${name}`)
        .toSorted(),
    );
    for (const [, { Properties }] of stage.list("SecretsManager::Secret"))
      expect(Properties.SecretString).toBeUndefined();
  });

  test("the migration runs after the network, the database and its secrets, before any rotation and API", () => {
    const migration = trigger("Migration");
    const before = migration.DependsOn ?? [];
    const needed = [
      ...stage.list("RDS::DBInstance"),
      ...[...stage.list("EC2::SecurityGroupEgress"), ...stage.list("EC2::SecurityGroupIngress")].filter(
        ([id]) => id.includes("Database"),
      ),
      ...stage
        .list("SecretsManager::Secret")
        .filter(([, { Properties }]) => Properties.Name.includes("database/")),
    ].map(([id]) => id);
    expect(needed.filter((id) => !before.includes(id))).toEqual([]);
    for (const [, { DependsOn = [] }] of stage.list("SecretsManager::RotationSchedule"))
      expect(DependsOn).toEqual(expect.arrayContaining([migration.id, trigger("Filling").id]));
    const [network, data] = [stage.network.artifactId, stage.data.artifactId];
    for (const { stackName, dependencies } of stage.assembly.stacks)
      if (stackName !== network)
        expect([stackName, dependencies.map(({ id }) => id)]).toEqual([
          stackName,
          expect.arrayContaining([stackName === data ? network : data]),
        ]);
  });

  test("the deployment waits for the migration, and calls the version that it has just published", () => {
    const { Properties } = trigger("Migration");
    expect(Properties.InvocationType).toBe("RequestResponse");
    expect(Properties.HandlerArn.Ref).toMatch(/migrateFunctionCurrentVersion/);
  });

  test("every secret is rotated monthly, unless the table has a reason not to", () => {
    const scheduled = stage.list("SecretsManager::RotationSchedule").map(([, { Properties }]) => Properties);
    expect(new Set(scheduled.map(({ RotationRules }) => RotationRules.ScheduleExpression))).toEqual(
      new Set(["rate(30 days)"]),
    );
    const ids = new Set(scheduled.map(({ SecretId }) => SecretId.Ref));
    const others = stage.list("SecretsManager::Secret").filter(([id]) => !ids.has(id));
    expect(
      others.map(([, { Properties }]) => Properties.Name.replace("municipal/prod/", "")).toSorted(),
    ).toEqual(mintedSecrets.filter((name) => "never" in secretTable[name].rotation).toSorted());
  });
});

test("every log has a retention time, and every function has its own group", () => {
  for (const stage of [onAurora, inDev]) {
    const days = stage === inDev ? 30 : 90;
    for (const [id, { Properties }] of stage.list("Logs::LogGroup"))
      expect([id, Properties.RetentionInDays]).toEqual([id, days]);
    const groups = stage
      .list("Lambda::Function")
      .map(([, { Properties }]) => Properties.LoggingConfig.LogGroup.Ref);
    expect(new Set(groups).size).toBe(stage.list("Lambda::Function").length);
  }
});
