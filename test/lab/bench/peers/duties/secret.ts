import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type * as z from "zod";

const client = new SecretsManagerClient({});

export const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`environment variable ${name} is not set`);
  return value;
};

/** Starts to read a JSON secret while the module loads; an error surfaces when it is used. */
export const readSecret = <T>(variable: string, schema: z.ZodType<T>): Promise<T> => {
  const read = client
    .send(new GetSecretValueCommand({ SecretId: setting(variable) }))
    .then(({ SecretString = "null" }) => schema.parse(JSON.parse(SecretString)));
  read.catch(() => {});
  return read;
};
