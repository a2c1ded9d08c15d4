import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { SecretName } from "#lib/secrets/table/table.ts";
import { capacityOf } from "../capacity.ts";
import type { Config } from "../config.ts";
import { Database } from "../constructs/database.ts";
import { DeployStep } from "../constructs/deploy-step.ts";
import { Network } from "../constructs/network.ts";
import { confineProviders } from "../constructs/providers.ts";
import { Rotation } from "../constructs/rotation.ts";
import { Secrets } from "../constructs/secrets.ts";

/** The base of the other stacks: the network, the database with its schema, and the secrets. */
export class DataStack extends Stack {
  readonly network: Network;
  readonly database: Database;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    this.network = new Network(this, "Network", config);
    this.#exportSubnets(config);
    const surroundings = { config, network: this.network };
    this.database = new Database(this, "Database", surroundings);
    const { host, port, dbname, adminSecretName, adminSecret } = this.database;
    const secrets = new Secrets(this, "Secrets", config, this.database);
    const migration = new DeployStep(this, "Migration", {
      ...surroundings,
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
    migration.trigger.executeAfter(this.network, this.database, secrets);
    const filling = new DeployStep(this, "Filling", {
      ...surroundings,
      fn: "fill-secrets",
      actions: ["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"],
      secretArns: [...secrets.minted.values()],
    });
    new Rotation(this, "Rotation", {
      ...surroundings,
      arns: new Map<SecretName, string>([
        ...secrets.logins,
        ...secrets.minted,
        ...(config.database.kind === "existing" ? [] : [["database/admin", adminSecret.secretArn] as const]),
      ]),
      after: [migration.trigger, filling.trigger],
    });
    confineProviders(this, config.logRetention);
  }

  /**
   * Exports all subnets: the route to the legacy systems decides which ones other stacks use, and CloudFormation refuses to
   * remove an export that is still in use.
   */
  #exportSubnets({ network }: Config) {
    if (network.egress === "existing") return;
    const { publicSubnets, privateSubnets } = this.network.vpc;
    for (const { subnetId } of [...publicSubnets, ...privateSubnets]) this.exportValue(subnetId);
  }
}
