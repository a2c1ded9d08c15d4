import { Aws, CfnCondition, Fn, type IResolvable, Stack, Validations } from "aws-cdk-lib";
import { CfnSecret, type CfnSecretProps } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { mintedSecrets, type SecretName, type SecretValue, secretTable } from "#lib/secrets/table/table.ts";
import type { Config } from "../config.ts";
import { secretName } from "../stage-names.ts";
import type { Database } from "./database.ts";
import { keepOrDrop } from "./protection.ts";

/** What CloudFormation knows of a login before Secrets Manager generates its password. */
type Login = Omit<SecretValue<"database/admin">, "password">;

/** The secrets of a stage except the administrator's: ARNs by name. Nobody sees their values. */
export class Secrets extends Construct {
  /** Of each login role, in the shape of RDS, with a password by Secrets Manager. */
  readonly logins: ReadonlyMap<SecretName, string>;
  /** Empty until the deployment fills them. */
  readonly minted: ReadonlyMap<SecretName, string>;
  readonly #replicas: IResolvable | undefined;

  constructor(scope: Construct, id: string, config: Config, database: Database) {
    super(scope, id);
    this.#replicas = this.#findReplicas(config);
    const { host, port, dbname } = database;
    const generate = (username: string) => ({
      generateSecretString: {
        secretStringTemplate: Stack.of(this).toJsonString({ host, port, dbname, username } satisfies Login),
        generateStringKey: "password",
        excludePunctuation: true,
        passwordLength: 40,
      },
    });
    const roles = Object.entries(loginRoles) as [LoginRole, string][];
    this.logins = new Map(
      roles.map(([role, username]) => this.#make(`database/${role}`, config, generate(username))),
    );
    this.minted = new Map(mintedSecrets.map((name) => this.#make(name, config)));
  }

  /** The region of the vault for backups, unless that is the stage's own: there a secret cannot be replicated. */
  #findReplicas({ backupVaultArn }: Config): IResolvable | undefined {
    const region = backupVaultArn?.split(":")[3];
    if (!region) return undefined;
    const isElsewhere = new CfnCondition(this, "BackupElsewhere", {
      expression: Fn.conditionNot(Fn.conditionEquals(Aws.REGION, region)),
    });
    return Fn.conditionIf(isElsewhere.logicalId, [{ Region: region }], Aws.NO_VALUE);
  }

  #make(name: SecretName, { stage, keepsData }: Config, value: CfnSecretProps = {}) {
    const { rotation } = secretTable[name];
    const secret = new CfnSecret(this, name, {
      name: secretName(stage, name),
      description: "Made by a deployment; afterwards only a rotation or an operator changes it",
      // what is never rotated is needed to read a backup, or others have it: a new stage could not make it again
      ...("never" in rotation && this.#replicas && { replicaRegions: this.#replicas }),
      ...value,
    });
    secret.applyRemovalPolicy(keepOrDrop(keepsData));
    if ("never" in rotation)
      Validations.of(secret).acknowledge({ id: "AwsSolutions-SMG4", reason: rotation.never });
    return [name, secret.ref] as const;
  }
}
