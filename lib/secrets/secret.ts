import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import type * as z from "zod/mini";
import { parseJson } from "#lib/read-text.ts";
import { secretsManager } from "./secrets-manager.ts";

/** Which version of a secret: the one in use, the one before its last rotation, or the one that a rotation makes. */
export type Stage = "AWSCURRENT" | "AWSPREVIOUS" | "AWSPENDING";

/** Whether the error says that a secret, or its version of that stage, does not exist. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === "ResourceNotFoundException";

/**
 * Returns the current value of a JSON secret.
 *
 * @param name name or ARN.
 * @throws Error that names the secret, never its content, when it cannot be read or has another shape.
 */
export const readSecret = async <T>(
  name: string,
  schema: z.ZodMiniType<T>,
  stage: Stage = "AWSCURRENT",
): Promise<T> => {
  const sdk = await secretsManager();
  const command = new GetSecretValueCommand({ SecretId: name, VersionStage: stage });
  const reply = await sdk.send(command).catch((cause: unknown) => {
    throw new Error(`secret ${name} cannot be read`, { cause });
  });
  const parsed = schema.safeParse(parseJson(reply.SecretString ?? "null"));
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "(whole)");
    throw new Error(`secret ${name} has another shape than expected at ${fields.join(", ")}`);
  }
  return parsed.data;
};

/** Finds a secret's value of a stage; undefined if it has no such version. @throws Error as `readSecret` does. */
export const findSecret = <T>(name: string, schema: z.ZodMiniType<T>, stage: Stage): Promise<T | undefined> =>
  readSecret(name, schema, stage).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/**
 * Returns the current value of a secret and, after a rotation, the previous one: what that one encrypted or signed
 * remains valid until the next rotation.
 *
 * @throws Error as `readSecret` does.
 */
export const readBothStages = async <T>(name: string, schema: z.ZodMiniType<T>): Promise<T[]> => {
  const [current, previous] = await Promise.all([
    readSecret(name, schema),
    findSecret(name, schema, "AWSPREVIOUS"),
  ]);
  return previous === undefined ? [current] : [current, previous];
};
