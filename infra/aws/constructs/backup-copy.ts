import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Schedule } from "aws-cdk-lib/aws-events";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import type { Server } from "./database.ts";

const vaultName = (stage: string): string => `municipal-${stage}`;

/** Copies that reached the vault outside of the stage; AWS Backup reports them by the vault that they come from. */
export const copiesMade = (stage: string): Metric =>
  new Metric({
    namespace: "AWS/Backup",
    metricName: "NumberOfCopyJobsCompleted",
    dimensionsMap: { BackupVaultName: vaultName(stage) },
    statistic: "Sum",
    period: Duration.days(1),
  });

/**
 * Copies the database once a day to a vault that does not belong to the stage. Unlike the replication of automated
 * backups of RDS, AWS Backup does this for Aurora too. An existing server has the backups of its operators.
 */
export class BackupCopy extends Construct {
  constructor(scope: Construct, id: string, config: Config, server: Server) {
    super(scope, id);
    const { stage, backupVaultArn, backupDays } = config;
    if (!backupVaultArn || server.kind === "existing") return;
    const backupVault = new BackupVault(this, "Vault", {
      backupVaultName: vaultName(stage),
      // AWS Backup deletes no vault that holds backups, and CloudFormation would fail
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    const plan = new BackupPlan(this, "Plan", {
      backupPlanName: vaultName(stage),
      backupPlanRules: [
        new BackupPlanRule({
          backupVault,
          // 1 in the morning in Jakarta
          scheduleExpression: Schedule.cron({ hour: "18", minute: "0" }),
          // RDS itself keeps backups here, for as long as the copies
          deleteAfter: Duration.days(2),
          copyActions: [
            {
              destinationBackupVault: BackupVault.fromBackupVaultArn(this, "Outside", backupVaultArn),
              deleteAfter: Duration.days(backupDays),
            },
          ],
        }),
      ],
    });
    const selection = plan.addSelection("Database", { resources: [BackupResource.fromArn(server.arn)] });
    Validations.of(selection).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]",
      reason:
        "AWS extends this policy with its service; with one of our own, backups would fail without notice",
    });
  }
}
