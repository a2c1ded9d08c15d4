import { randomUUID } from "node:crypto";
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  TagResourceCommand,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { secretsManager } from "./secrets-manager.ts";

/** Lists the stages of each version of a secret, by the version's ID. */
export const listStages = async (id: string): Promise<Readonly<Record<string, readonly string[]>>> => {
  const sdk = await secretsManager();
  const { VersionIdsToStages } = await sdk.send(new DescribeSecretCommand({ SecretId: id }));
  return VersionIdsToStages ?? {};
};

/** Writes a version; its stage is AWSCURRENT by default. */
export const writeVersion = async (
  id: string,
  value: unknown,
  { versionId = randomUUID(), stage }: { versionId?: string; stage?: "AWSPENDING" } = {},
): Promise<void> => {
  const sdk = await secretsManager();
  await sdk.send(
    new PutSecretValueCommand({
      SecretId: id,
      SecretString: JSON.stringify(value),
      ClientRequestToken: versionId,
      ...(stage && { VersionStages: [stage] }),
    }),
  );
};

/** Makes a version the current one; the former one becomes AWSPREVIOUS. */
export const makeCurrent = async (id: string, versionId: string, formerId: string): Promise<void> => {
  const sdk = await secretsManager();
  await sdk.send(
    new UpdateSecretVersionStageCommand({
      SecretId: id,
      VersionStage: "AWSCURRENT",
      MoveToVersionId: versionId,
      RemoveFromVersionId: formerId,
    }),
  );
};

/** Finds the value of a secret's tag. */
export const findTag = async (id: string, key: string): Promise<string | undefined> => {
  const sdk = await secretsManager();
  const { Tags = [] } = await sdk.send(new DescribeSecretCommand({ SecretId: id }));
  return Tags.find(({ Key }) => Key === key)?.Value;
};

export const setTag = async (id: string, key: string, value: string): Promise<void> => {
  const sdk = await secretsManager();
  await sdk.send(new TagResourceCommand({ SecretId: id, Tags: [{ Key: key, Value: value }] }));
};
