import { DescribeSecretCommand, TagResourceCommand } from "@aws-sdk/client-secrets-manager";
import { secretsManager } from "./secrets-manager.ts";

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
