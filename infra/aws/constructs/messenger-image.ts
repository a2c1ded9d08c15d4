import { fileURLToPath } from "node:url";
import { Aws, IgnoreMode } from "aws-cdk-lib";
import { Repository } from "aws-cdk-lib/aws-ecr";
import { Platform } from "aws-cdk-lib/aws-ecr-assets";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";

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
export const messengerImage = (scope: Construct, reference: string | undefined): ContainerImage => {
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
