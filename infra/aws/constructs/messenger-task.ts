import { fileURLToPath } from "node:url";
import { Aws, Duration, IgnoreMode, RemovalPolicy, Validations } from "aws-cdk-lib";
import { Repository } from "aws-cdk-lib/aws-ecr";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import * as ecs from "aws-cdk-lib/aws-ecs";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { messengerSecrets } from "#lib/routes/internal.ts";
import type { Config } from "../config.ts";
import { cityVariables, messengerPort, secretName } from "../stage-names.ts";
import { addressesOf } from "./gateway.ts";

/** The user `node` in the image. */
const user = "1000:1000";

/**
 * Folders that the agent of `aws ssm start-session` writes to; the rest of the file system is read-only.
 * @see https://github.com/aws/containers-roadmap/issues/1359
 */
const agentFolders = {
  "agent-program": "/managed-agents",
  "agent-state": "/var/lib/amazon/ssm",
  "agent-log": "/var/log/amazon/ssm",
};

/** The messenger's container, with a role that may read its own secrets. */
export class MessengerTask extends Construct {
  readonly definition: ecs.FargateTaskDefinition;
  readonly logGroup: LogGroup;
  /** Time to live of the task's DNS record, in seconds. */
  readonly rememberedSeconds = 10;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    const { stage, logRetention, messagingImage, consoleLogin, webVersion } = config;
    this.logGroup = new LogGroup(this, "Logs", {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.definition = new ecs.FargateTaskDefinition(this, "Definition", {
      cpu: 256,
      memoryLimitMiB: 512,
      runtimePlatform: {
        cpuArchitecture: ecs.CpuArchitecture.ARM64,
        operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
      },
      volumes: Object.keys(agentFolders).map((name) => ({ name })),
    });
    const { INTEGRATION_ADDRESS: documentation } = addressesOf(config);
    const named = Object.entries(messengerSecrets).map(
      ([variable, name]) => [variable, secretName(stage, name)] as const,
    );
    const container = this.definition.addContainer("messenger", {
      image: messengerImage(this, messagingImage),
      user,
      readonlyRootFilesystem: true,
      linuxParameters: new ecs.LinuxParameters(this, "Linux", { initProcessEnabled: true }),
      portMappings: [{ containerPort: messengerPort }],
      environment: {
        ...Object.fromEntries(named),
        ...(consoleLogin && {
          CONSOLE_ISSUER_URL: consoleLogin.issuer,
          CONSOLE_CLIENT_ID: consoleLogin.clientId,
          CONSOLE_GROUPS_CLAIM: consoleLogin.groupsClaim,
        }),
        ...cityVariables(config),
        ...(documentation && { INTEGRATION_ADDRESS: documentation }),
        ...(webVersion && { PLATFORM_WEB_VERSION: webVersion }),
        MESSENGER_LINGER_SECONDS: String(this.rememberedSeconds + 5),
      },
      healthCheck: {
        command: [
          ...["CMD", "node", "-e"],
          `fetch("http://127.0.0.1:${messengerPort}/health").then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`,
        ],
        interval: Duration.seconds(15),
        timeout: Duration.seconds(5),
        startPeriod: Duration.seconds(60),
      },
      // a connection whose other end has vanished closes after 100 s; by default (15) after 15 min
      systemControls: [{ namespace: "net.ipv4.tcp_retries2", value: "8" }],
      // waits for the DNS record to expire, finishes downloads, then writes what is in progress
      stopTimeout: Duration.seconds(90),
      logging: ecs.LogDrivers.awsLogs({
        streamPrefix: "messenger",
        logGroup: this.logGroup,
        mode: ecs.AwsLogDriverMode.NON_BLOCKING,
      }),
    });
    container.addMountPoints(
      ...Object.entries(agentFolders).map(([sourceVolume, containerPath]) => ({
        sourceVolume,
        containerPath,
        readOnly: false,
      })),
    );
    for (const [variable, name] of named)
      Secret.fromSecretNameV2(this, variable, name).grantRead(this.definition.taskRole);
    this.#accept();
  }

  #accept() {
    Validations.of(this.definition).acknowledge(
      {
        id: "AwsSolutions-ECS2",
        reason: "The variables hold names of secrets, never a secret: the task reads each by its own role",
      },
      {
        id: "AwsSolutions-IAM5[Resource::*]",
        reason:
          "ecr:GetAuthorizationToken and the four channel actions of ssmmessages, by which the console is reached, take no resource in a policy",
      },
    );
  }
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The only files of the repository that the image is built from. */
export const imageContents = [
  ...["messenger.mjs", "LICENSES.txt", "rds-ca.pem"].map((file) => `dist/messenger/${file}`),
  "infra/image/node_modules",
];

const ecrReference =
  /^(?<account>\d{12})\.dkr\.ecr\.(?<region>[\w-]+)\.amazonaws\.com\/(?<repository>[^:@]+)[:@](?<version>.+)$/;

/**
 * The messenger's image: built when the stack is deployed, which needs Docker there, or an existing one in a
 * registry.
 */
const messengerImage = (scope: Construct, reference: string | undefined): ContainerImage => {
  if (!reference)
    return ContainerImage.fromAsset(root, {
      file: "infra/aws/messenger.Dockerfile",
      platform: Platform.LINUX_ARM64,
      ignoreMode: IgnoreMode.DOCKER,
      exclude: ["**", ...["infra/aws/messenger.Dockerfile", ...imageContents].map((file) => `!${file}`)],
    });
  const { account, region, repository, version } = ecrReference.exec(reference)?.groups ?? {};
  if (!repository || !version) return ContainerImage.fromRegistry(reference);
  const repositoryArn = `arn:${Aws.PARTITION}:ecr:${region}:${account}:repository/${repository}`;
  return ContainerImage.fromEcrRepository(
    Repository.fromRepositoryAttributes(scope, "Image", { repositoryArn, repositoryName: repository }),
    version,
  );
};
