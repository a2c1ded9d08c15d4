import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type * as z from "zod/mini";
import { findSetting, getSetting } from "./config.ts";
import { type Lazy, lazy } from "./lazy.ts";

const requestTimeoutMs = 1_500;

/**
 * Region, endpoint and credentials are given, not discovered: the default chains read files and cost
 * about 10 ms and 130 KB in a cold start. In Lambda all three stand in the environment.
 */
const client = lazy(async () => {
  const endpoint = findSetting("AWS_ENDPOINT_URL_SECRETS_MANAGER");
  const sessionToken = findSetting("AWS_SESSION_TOKEN");
  return new SecretsManagerClient({
    region: getSetting("AWS_REGION"),
    credentials: {
      accessKeyId: getSetting("AWS_ACCESS_KEY_ID"),
      secretAccessKey: getSetting("AWS_SECRET_ACCESS_KEY"),
      ...(sessionToken && { sessionToken }),
    },
    ...(endpoint && { endpoint }),
    maxAttempts: 2,
    retryMode: "standard",
    defaultsMode: "standard",
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    authSchemePreference: [],
    userAgentAppId: "municipal-integration-api",
    requestHandler: { connectionTimeout: 1_000, requestTimeout: requestTimeoutMs },
  });
});

/** Which version of a secret: the one in use, or the one before its last rotation. */
type Stage = "AWSCURRENT" | "AWSPREVIOUS";

/** Whether a secret could not be read because it, or its version of that stage, is not there. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === "ResourceNotFoundException";

/**
 * A JSON secret of Secrets Manager as it is now.
 *
 * @param name name or ARN.
 * @throws Error that names the secret, never its content, when it cannot be read or has another shape.
 */
export const readSecret = async <T>(
  name: string,
  schema: z.ZodMiniType<T>,
  stage: Stage = "AWSCURRENT",
): Promise<T> => {
  const sdk = await client();
  const command = new GetSecretValueCommand({ SecretId: name, VersionStage: stage });
  const reply = await sdk.send(command).catch((cause: unknown) => {
    throw new Error(`secret ${name} cannot be read`, { cause });
  });
  const parsed = schema.safeParse(parse(reply.SecretString));
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join(".") || "(whole)");
    throw new Error(`secret ${name} has another shape than expected at ${fields.join(", ")}`);
  }
  return parsed.data;
};

/**
 * The secret as it is now and, once it has been rotated, as it was before: what the one before opened or
 * signed is good until the next rotation.
 *
 * @throws Error as `readSecret` does.
 */
export const readBothStages = async <T>(name: string, schema: z.ZodMiniType<T>): Promise<T[]> => {
  const previous = readSecret(name, schema, "AWSPREVIOUS").then(
    (found) => [found],
    (error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    },
  );
  return (await Promise.all([readSecret(name, schema).then((found) => [found]), previous])).flat();
};

/**
 * A JSON secret of Secrets Manager, read once and kept until `reset()`.
 *
 * @param id name or ARN, read when the secret is first needed.
 */
export const secret = <T>(id: () => string, schema: z.ZodMiniType<T>): Lazy<T> =>
  lazy(async () => readSecret(id(), schema));

const parse = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
};
