import { createHash } from "node:crypto";
import { Duration, Validations } from "aws-cdk-lib";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import * as rds from "aws-cdk-lib/aws-rds";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct, type IConstruct } from "constructs";
import { logSettings } from "#lib/db/deployment.ts";
import { capacityOf } from "../capacity.ts";
import type { DatabaseChoice } from "../config.ts";
import { secretName } from "../stage-names.ts";
import type { StackContext } from "./node-function.ts";
import { keepOrDrop } from "./protection.ts";

type Choice<K extends DatabaseChoice["kind"]> = Extract<DatabaseChoice, { kind: K }>;

interface Created {
  readonly identifier: string;
  readonly arn: string;
}

/** The server, with its construct for its metrics, unless it exists outside of the stage. */
export type Server =
  | (Created & {
      readonly kind: "aurora";
      readonly cluster: rds.DatabaseCluster | rds.DatabaseClusterFromSnapshot;
    })
  | (Created & {
      readonly kind: "instance";
      readonly instance: rds.DatabaseInstance | rds.DatabaseInstanceFromSnapshot;
    })
  | { readonly kind: "existing" };

/** Not PostgreSQL's default port, which every scan tries first. */
const ownPort = 5433;
const ownName = "municipal";
const adminName = "municipal_admin";

const parameters = {
  "rds.force_ssl": "1",
  password_encryption: "scram-sha-256",
  ...logSettings,
};

const forgottenOnPurpose =
  "A stage that is not production holds invented data and is made to be deleted with its stacks";

const encryptedBefore =
  "A snapshot of a stage is encrypted, and so is what is restored from it; RDS rejects the property beside a snapshot";

const passwordOfSnapshot =
  "CloudFormation sets the administrator's password after the restore, as the CDK's own deployments of this construct show";

const protectedLater =
  "The last stack protects it: a first deployment that fails before must be able to delete it";

const isParameterGroup = (part: IConstruct) =>
  part instanceof rds.CfnDBClusterParameterGroup || part instanceof rds.CfnDBParameterGroup;

/** PostgreSQL of a stage: created here and encrypted, or an existing server. */
export class Database extends Construct {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  readonly dbname: string;
  /** Secret of the administrator, who creates roles and schemas, in RDS format. */
  readonly adminSecret: ISecret;
  readonly adminSecretName: string;

  readonly #stackContext: StackContext;

  constructor(scope: Construct, id: string, stackContext: StackContext) {
    super(scope, id);
    this.#stackContext = stackContext;
    const choice = stackContext.config.database;
    this.port = choice.kind === "existing" ? choice.port : ownPort;
    if (choice.kind === "existing") {
      this.server = { kind: "existing" };
      this.host = choice.host;
      if (choice.securityGroupId)
        this.#open(ec2.SecurityGroup.fromSecurityGroupId(this, "Group", choice.securityGroupId));
      this.dbname = choice.dbname;
      this.adminSecretName = choice.adminSecret;
      this.adminSecret = Secret.fromSecretNameV2(this, "Admin", choice.adminSecret);
      return;
    }
    this.dbname = ownName;
    this.adminSecretName = secretName(stackContext.config.stage, "database/admin");
    this.adminSecret = this.#makeAdmin();
    if (choice.kind === "aurora") {
      const cluster = this.#makeCluster(choice);
      const { clusterIdentifier: identifier, clusterArn: arn } = cluster;
      this.server = { kind: "aurora", cluster, identifier, arn };
      this.host = cluster.clusterEndpoint.hostname;
    } else {
      const instance = this.#makeInstance(choice);
      const { instanceIdentifier: identifier, instanceArn: arn } = instance;
      this.server = { kind: "instance", instance, identifier, arn };
      this.host = instance.dbInstanceEndpointAddress;
    }
  }

  #makeAdmin(): ISecret {
    const { keepsData } = this.#stackContext.config;
    const secret = new rds.DatabaseSecret(this, "Admin", {
      username: adminName,
      dbname: ownName,
      secretName: this.adminSecretName,
    });
    secret.applyRemovalPolicy(keepOrDrop(keepsData));
    return secret as ISecret;
  }

  /** A restored server has another name than the one before, beside which it is created. */
  #identifier(): string {
    const { stage, database } = this.#stackContext.config;
    const { restoreFrom } = database;
    const suffix = restoreFrom && createHash("sha256").update(restoreFrom).digest("hex").slice(0, 8);
    return ["municipal", stage, ...(suffix ? [suffix] : [])].join("-");
  }

  /** The rules are of this stack: another kind of database changes nothing that other stacks use. */
  #open(group: ec2.ISecurityGroup) {
    const { functions, messenger } = this.#stackContext.network;
    const port = ec2.Port.tcp(this.port);
    for (const { securityGroup } of [functions, messenger]) {
      securityGroup.addEgressRule(group, port, "to the database", true);
      group.addIngressRule(securityGroup, port, "from functions and the messenger");
    }
  }

  /** The properties that both kinds of server share. */
  #shared(kind: "cluster" | "instance") {
    const { config, network } = this.#stackContext;
    const identifier = this.#identifier();
    const group = new ec2.SecurityGroup(this, "Group", {
      vpc: network.database.vpc,
      description: "Database: only functions and the messenger may call it",
      allowAllOutbound: false,
    });
    group.applyRemovalPolicy(keepOrDrop(config.keepsData));
    this.#open(group);
    const logs = new LogGroup(this, "Logs", {
      logGroupName: `/aws/rds/${kind}/${identifier}/postgresql`,
      retention: config.logRetention,
      removalPolicy: keepOrDrop(config.keepsData),
    });
    return {
      identifier,
      logs,
      props: {
        ...network.database,
        securityGroups: [group],
        port: ownPort,
        // by default it follows the memory, less what RDS itself uses of it
        parameters: { ...parameters, max_connections: String(capacityOf(config).connections) },
        iamAuthentication: true,
        copyTagsToSnapshot: true,
        cloudwatchLogsExports: ["postgresql"],
        removalPolicy: keepOrDrop(config.keepsData),
      },
      empty: { credentials: rds.Credentials.fromSecret(this.adminSecret), storageEncrypted: true },
      /** The administrator of the snapshot gets the password in the secret. */
      restored: rds.SnapshotCredentials.fromSecret(this.adminSecret),
    };
  }

  #makeCluster({ minCapacity, maxCapacity, restoreFrom }: Choice<"aurora">) {
    const { zones, capacity, backupDays } = this.#stackContext.config;
    const { identifier, logs, props, empty, restored } = this.#shared("cluster");
    const caCertificate = rds.CaCertificate.RDS_CA_RSA2048_G1;
    const all = {
      ...props,
      clusterIdentifier: identifier,
      engine: rds.DatabaseClusterEngine.auroraPostgres({ version: rds.AuroraPostgresEngineVersion.VER_17_9 }),
      serverlessV2MinCapacity: minCapacity ?? capacity.min,
      serverlessV2MaxCapacity: maxCapacity ?? capacity.max,
      writer: rds.ClusterInstance.serverlessV2("Writer", { caCertificate }),
      readers:
        zones > 1
          ? [rds.ClusterInstance.serverlessV2("Standby", { caCertificate, scaleWithWriter: true })]
          : [],
      backup: { retention: Duration.days(backupDays) },
    };
    const cluster = restoreFrom
      ? new rds.DatabaseClusterFromSnapshot(this, "Cluster", {
          ...all,
          snapshotIdentifier: restoreFrom,
          snapshotCredentials: restored,
        })
      : new rds.DatabaseCluster(this, "Cluster", { ...all, ...empty, defaultDatabaseName: ownName });
    return this.#accept(cluster, logs);
  }

  #makeInstance({ instanceClass, storageGb, restoreFrom }: Choice<"instance">) {
    const { zones, backupDays, keepsData } = this.#stackContext.config;
    const { identifier, logs, props, empty, restored } = this.#shared("instance");
    const all = {
      ...props,
      instanceIdentifier: identifier,
      engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_17 }),
      instanceType: new ec2.InstanceType(instanceClass),
      allocatedStorage: storageGb,
      maxAllocatedStorage: storageGb * 5,
      storageType: rds.StorageType.GP3,
      multiAz: zones > 1,
      publiclyAccessible: false,
      caCertificate: rds.CaCertificate.RDS_CA_RSA2048_G1,
      backupRetention: Duration.days(backupDays),
      deleteAutomatedBackups: !keepsData,
    };
    const instance = restoreFrom
      ? new rds.DatabaseInstanceFromSnapshot(this, "Instance", {
          ...all,
          snapshotIdentifier: restoreFrom,
          credentials: restored,
        })
      : new rds.DatabaseInstance(this, "Instance", { ...all, ...empty, databaseName: ownName });
    return this.#accept(instance, logs);
  }

  #accept<T extends Construct>(server: T, logs: LogGroup): T {
    server.node.addDependency(logs);
    const { keepsData, database } = this.#stackContext.config;
    // a server that is kept uses them, and its stack could not be deleted; the CDK passes on RETAIN only (its issue 37780)
    for (const part of this.node.findAll())
      if (part instanceof rds.CfnDBSubnetGroup || isParameterGroup(part))
        part.applyRemovalPolicy(keepOrDrop(keepsData));
    const reasons = {
      "AwsSolutions-RDS10": keepsData ? protectedLater : forgottenOnPurpose,
      ...(!keepsData && { "AwsSolutions-RDS3": forgottenOnPurpose }),
      ...(database.restoreFrom && {
        "AwsSolutions-RDS2": encryptedBefore,
        "CloudFormation-Validate::F3021": passwordOfSnapshot,
      }),
    };
    for (const [id, reason] of Object.entries(reasons)) Validations.of(server).acknowledge({ id, reason });
    return server;
  }
}
