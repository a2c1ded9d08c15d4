import { describe, expect, test } from "vitest";
import { mintedSecrets, secretTable } from "#lib/secrets/table/table.ts";
import { examples } from "../../infra/aws/config.ts";
import { restoredStage, synthesizeWith } from "./composed-stage.ts";

const [aurora, instance] = examples.database;
const on = {
  aurora: synthesizeWith(restoredStage(aurora)),
  instance: synthesizeWith(restoredStage(instance)),
};

type Stage = ReturnType<typeof synthesizeWith>;

const only = (stage: Stage, type: string) => {
  const [found, ...more] = stage.list(type);
  if (!found || more.length > 0) throw new Error(`not one ${type}`);
  return found[1];
};

describe("a server is restored from the snapshot in the context", () => {
  test.each([
    ["aurora", "RDS::DBCluster", "SnapshotIdentifier", "DBClusterIdentifier", ["DatabaseName"]],
    ["instance", "RDS::DBInstance", "DBSnapshotIdentifier", "DBInstanceIdentifier", ["DBName"]],
  ] as const)(
    "%s, with the administrator's password of the secret",
    (kind, type, snapshot, name, inherited) => {
      const { Properties } = only(on[kind], type);
      expect(Properties[snapshot]).toBe("municipal-prod-before");
      expect(JSON.stringify(Properties.MasterUserPassword)).toContain(":SecretString:password::");
      // RDS rejects them beside a snapshot, which has them
      for (const property of ["MasterUsername", "StorageEncrypted", ...inherited])
        expect([property, Properties[property]]).toEqual([property, undefined]);
      // the server before keeps its name, as it is kept
      expect(Properties[name]).toMatch(/^municipal-prod-[\da-f]{8}$/);
      const logs = on[kind].list("Logs::LogGroup").map(([, group]) => group.Properties.LogGroupName);
      expect(logs).toContainEqual(expect.stringContaining(`/${Properties[name]}/postgresql`));
    },
  );

  test("and the migration holds the messages, and refuses an empty one", () => {
    const [, migrate] = on.instance.list("Lambda::Function").find(([id]) => id.includes("migrate")) ?? [];
    expect(migrate?.Properties.Environment.Variables).toMatchObject({
      DATABASE_RESTORED_FROM: "municipal-prod-before",
    });
  });
});

describe.each(Object.entries(on))(
  "with a vault outside of the stage and a database of the kind %s",
  (kind, stage) => {
    test("the database is copied there every day, and kept as long as backups in the stage's region", () => {
      const { Properties } = only(stage, "Backup::BackupPlan");
      const [rule, ...others] = Properties.BackupPlan.BackupPlanRule;
      expect(others).toEqual([]);
      expect(rule).toMatchObject({
        ScheduleExpression: "cron(0 18 * * ? *)",
        CopyActions: [
          { DestinationBackupVaultArn: examples.backupVaultArn[0], Lifecycle: { DeleteAfterDays: 30 } },
        ],
      });
      const [arn, ...more] = only(stage, "Backup::BackupSelection").Properties.BackupSelection.Resources;
      expect([JSON.stringify(arn), more]).toEqual([
        expect.stringContaining(kind === "aurora" ? ":cluster:" : ":db:"),
        [],
      ]);
    });

    test("a day without a copy raises an alarm, also when nothing is reported", () => {
      const vault = only(stage, "Backup::BackupVault").Properties.BackupVaultName;
      const alarm = stage
        .list("CloudWatch::Alarm")
        .find(([, { Properties }]) => Properties.AlarmName === "municipal-prod-backup-copy")?.[1].Properties;
      expect(alarm).toMatchObject({
        ...{
          Namespace: "AWS/Backup",
          MetricName: "NumberOfCopyJobsCompleted",
          Period: 86_400,
          EvaluationPeriods: 1,
        },
        ...{ Threshold: 1, ComparisonOperator: "LessThanThreshold", TreatMissingData: "breaching" },
        Dimensions: [{ Name: "BackupVaultName", Value: vault }],
      });
    });

    test("secrets that nobody could make again are replicated to its region, unless it is the stage's own", () => {
      const replicated = stage
        .list("SecretsManager::Secret")
        .filter(([, { Properties }]) => Properties.ReplicaRegions !== undefined);
      expect(
        replicated.map(([, { Properties }]) => Properties.Name.replace("municipal/prod/", "")).toSorted(),
      ).toEqual(mintedSecrets.filter((name) => "never" in secretTable[name].rotation).toSorted());
      const conditions = stage.assembly.getStackByName(stage.data.stackName).template.Conditions;
      for (const [, { Properties }] of replicated) {
        const [condition, replicas, none] = Properties.ReplicaRegions["Fn::If"];
        expect([replicas, none]).toEqual([[{ Region: "ap-southeast-1" }], { Ref: "AWS::NoValue" }]);
        expect(conditions[condition]).toEqual({
          "Fn::Not": [{ "Fn::Equals": [{ Ref: "AWS::Region" }, "ap-southeast-1"] }],
        });
      }
    });
  },
);

test("what is needed to read a backup is among the secrets that are never rotated", () => {
  for (const name of ["audit-pepper", "opt-out-pepper", "messenger-key"] as const)
    expect(Object.keys(secretTable[name].rotation)).toEqual(["never"]);
});

test("without a vault outside, nothing is copied or replicated", () => {
  const stage = synthesizeWith({ stage: "prod", database: instance });
  expect(stage.all.filter(([, { Type }]) => Type.startsWith("AWS::Backup::"))).toEqual([]);
  const secrets = stage.list("SecretsManager::Secret").map(([, { Properties }]) => Properties.ReplicaRegions);
  expect(new Set(secrets)).toEqual(new Set([undefined]));
});
