import { Stack, Validations } from "aws-cdk-lib";
import { CfnSecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import type { Credentials } from "#lib/db/credentials.ts";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { inventions } from "#lib/secrets/inventions.ts";
import type { Config } from "../config.ts";
import { keepOrDrop } from "../removal.ts";
import { secretName } from "../secret-name.ts";
import type { Database } from "./database.ts";

type Invented = keyof typeof inventions;

/** Secrets that no clock may change, and why. */
const unrotated: Readonly<Partial<Record<Invented, string>>> = {
  "audit-pepper":
    "Digests of earlier searches could not be compared with new ones: it is changed by hand, with a new version number beside it, and the old value is kept as long as the audit",
  "opt-out-pepper": "With a new value nobody would be known to have opted out",
  "attempt-pepper": "A new value would forget who is throttled for guessing; it protects data of one day",
  "messenger-key":
    "It encrypts the WhatsApp link at rest: with another key the phone would have to be paired again",
  "messaging-basic":
    "Its other half is with the city's backends: an operator adds the second credential, moves the callers, and removes the first",
  "messenger-console": "It is a person's password: the operator who uses it changes it",
};

/** Every secret of a stage: made without a value that anyone has seen. */
export class Secrets extends Construct {
  /** Of each login role, in the shape of RDS, with a password by Secrets Manager. */
  readonly roles: ReadonlyMap<LoginRole, Secret>;
  /** The others; empty until the deployment fills them. */
  readonly invented: ReadonlyMap<Invented, CfnSecret>;

  constructor(scope: Construct, id: string, config: Config, database: Database) {
    super(scope, id);
    const names = Object.keys(loginRoles) as LoginRole[];
    this.roles = new Map(names.map((name) => [name, this.#makeRole(name, config, database)]));
    const others = Object.keys(inventions) as Invented[];
    this.invented = new Map(others.map((name) => [name, this.#makeEmpty(name, config)]));
  }

  #makeRole(name: LoginRole, { stage, keepsData }: Config, { host, port, dbname }: Database) {
    const known: Omit<Credentials, "password"> = { host, port, dbname, username: loginRoles[name] };
    return new Secret(this, `database/${name}`, {
      secretName: secretName(stage, `database/${name}`),
      description: `Credentials of the database role ${loginRoles[name]}`,
      removalPolicy: keepOrDrop(keepsData),
      generateSecretString: {
        secretStringTemplate: Stack.of(this).toJsonString(known),
        generateStringKey: "password",
        excludePunctuation: true,
        passwordLength: 40,
      },
    });
  }

  #makeEmpty(name: Invented, { stage, keepsData }: Config) {
    const secret = new CfnSecret(this, name, {
      name: secretName(stage, name),
      description: "Filled once by a deployment; a deployment never changes it afterwards",
    });
    secret.applyRemovalPolicy(keepOrDrop(keepsData));
    const reason = unrotated[name];
    if (reason) Validations.of(secret).acknowledge({ id: "AwsSolutions-SMG4", reason });
    return secret;
  }

  /** ARNs of the secrets that are changed by the clock, by their names. */
  get rotated(): Readonly<Record<string, string>> {
    const roles = [...this.roles].map(([name, { secretArn }]) => [`database/${name}`, secretArn]);
    const invented = [...this.invented].filter(([name]) => !unrotated[name]);
    return Object.fromEntries([...roles, ...invented.map(([name, { ref }]) => [name, ref])]);
  }
}
