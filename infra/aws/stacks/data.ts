import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { SecretName } from "#lib/secrets/table/table.ts";
import type { Config } from "../config.ts";
import { Database, databasePort } from "../constructs/database.ts";
import { DeployStep } from "../constructs/deploy-step.ts";
import { Network } from "../constructs/network.ts";
import type { Surroundings } from "../constructs/node-function.ts";
import { confineProviders } from "../constructs/providers.ts";
import { Rotation } from "../constructs/rotation.ts";
import { Secrets } from "../constructs/secrets.ts";
import { secretsPrefix } from "../secret-name.ts";
import { upstreamPorts } from "../upstream-urls.ts";

/** The base of the other stacks: the network, the database with its schema, and the secrets. */
export class DataStack extends Stack {
  readonly network: Network;
  readonly database: Database;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id, { terminationProtection: config.keepsData });
    const { database } = config;
    this.network = new Network(this, "Network", {
      ...config,
      choice: config.network,
      upstreamPorts: upstreamPorts(config),
      databasePort: databasePort(database),
      databaseGroup: database.kind === "existing" ? { existing: database.securityGroupId } : "new",
    });
    const surroundings = { config, network: this.network };
    this.database = new Database(this, "Database", surroundings);
    const { adminSecret } = this.database;
    const secrets = new Secrets(this, "Secrets", config, this.database);
    const migration = this.#migrate(surroundings, secrets);
    const filling = this.#fill(surroundings, secrets);
    new Rotation(this, "Rotation", {
      ...surroundings,
      arns: new Map<SecretName, string>([
        ...secrets.logins,
        ...secrets.minted,
        ...(database.kind === "existing" ? [] : [["database/admin", adminSecret.secretArn] as const]),
      ]),
      after: [migration.trigger, filling.trigger],
    });
    confineProviders(this, config.logRetention);
  }

  #migrate(surroundings: Surroundings, secrets: Secrets) {
    const { host, port, dbname, adminSecretName, adminSecret } = this.database;
    const step = new DeployStep(this, "Migration", {
      ...surroundings,
      fn: "migrate",
      secrets: {},
      isInside: true,
      environment: {
        DATABASE_SECRET_ID: adminSecretName,
        DATABASE_HOST: host,
        DATABASE_PORT: String(port),
        DATABASE_NAME: dbname,
        SECRETS_PREFIX: secretsPrefix(surroundings.config.stage),
      },
    });
    adminSecret.grantRead(step.lambda);
    step.lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        resources: [...secrets.logins.values()],
      }),
    );
    step.trigger.executeAfter(this.network, this.database, secrets);
    return step;
  }

  #fill(surroundings: Surroundings, { minted }: Secrets) {
    const step = new DeployStep(this, "Filling", {
      ...surroundings,
      fn: "fill-secrets",
      secrets: {},
      environment: { SECRETS_PREFIX: secretsPrefix(surroundings.config.stage) },
    });
    step.lambda.addToRolePolicy(
      new PolicyStatement({
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"],
        resources: [...minted.values()],
      }),
    );
    return step;
  }
}
