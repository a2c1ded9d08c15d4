import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { SecretName } from "#lib/secrets/table/table.ts";
import { capacityOf } from "../capacity.ts";
import { AuditAnchors } from "../constructs/audit-anchors.ts";
import { Database } from "../constructs/database.ts";
import { DeployStep } from "../constructs/deploy-step.ts";
import type { StackContext } from "../constructs/node-function.ts";
import { confineProviders } from "../constructs/providers.ts";
import { Rotation } from "../constructs/rotation.ts";
import { Secrets } from "../constructs/secrets.ts";

/**
 * What a stage cannot create again, the database, the secrets and the anchors of the audit, with the schema. The migration is
 * in the stack of the server: when it refuses an empty one, the rollback keeps the server that it was to replace.
 */
export class DataStack extends Stack {
  readonly database: Database;
  readonly anchors: AuditAnchors;

  constructor(scope: Construct, id: string, stackContext: StackContext) {
    const { config } = stackContext;
    super(scope, id, { terminationProtection: config.protected });
    this.database = new Database(this, "Database", stackContext);
    const { host, port, dbname, adminSecretName, adminSecret } = this.database;
    const secrets = new Secrets(this, "Secrets", config, this.database);
    const migration = new DeployStep(this, "Migration", {
      ...stackContext,
      fn: "migrate",
      isInside: true,
      environment: {
        DATABASE_SECRET_ID: adminSecretName,
        DATABASE_HOST: host,
        DATABASE_PORT: String(port),
        DATABASE_NAME: dbname,
        ...(config.database.restoreFrom && { DATABASE_RESTORED_FROM: config.database.restoreFrom }),
        CONNECTION_LIMITS: JSON.stringify(capacityOf(config).roles),
      },
      actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
      secretArns: [...secrets.logins.values()],
    });
    adminSecret.grantRead(migration.lambda);
    // `findDeployment` records there that the stage has a schema
    const marked = [secrets.logins.get("database/maintenance") ?? ""];
    migration.lambda.addToRolePolicy(
      new PolicyStatement({ actions: ["secretsmanager:TagResource"], resources: marked }),
    );
    migration.trigger.executeAfter(this.database, secrets);
    const filling = new DeployStep(this, "Filling", {
      ...stackContext,
      fn: "fill-secrets",
      actions: ["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"],
      secretArns: [...secrets.minted.values()],
    });
    new Rotation(this, "Rotation", {
      ...stackContext,
      arns: new Map<SecretName, string>([
        ...secrets.logins,
        ...secrets.minted,
        ...(config.database.kind === "existing" ? [] : [["database/admin", adminSecret.secretArn] as const]),
      ]),
      after: [migration.trigger, filling.trigger],
    });
    this.anchors = new AuditAnchors(this, "Anchors", config);
    confineProviders(this, config.logRetention);
  }
}
