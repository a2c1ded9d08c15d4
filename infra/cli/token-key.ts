import { setTimeout } from "node:timers/promises";
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  RotateSecretCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";
import { lifetimeSeconds } from "#lib/employee/access-token.ts";
import { maxAgeSeconds } from "#lib/employee/token-key.ts";
import { tokenKeySchema } from "#lib/secrets/schemas.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { localSecretName } from "../local/secrets/store.ts";
import { CommandError, command, type Reply, runCommand } from "./command.ts";

/** Secrets Manager invokes the function four times. It retries a failed rotation later. */
const maxWaitMs = 60_000;

/** Returns a Secrets Manager client and the name of the secret. */
const findSecret = () => {
  const id = findSetting("TOKEN_KEY_SECRET_ID");
  if (id) return { sdk: new SecretsManagerClient({}), id };
  const dev = findDevFile(localFolder);
  if (!dev)
    throw new CommandError(
      "No token key was found. To start a local system, run npm run dev in another terminal. For a deployed stage, " +
        "set TOKEN_KEY_SECRET_ID with AWS_REGION and AWS credentials.",
    );
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const sdk = new SecretsManagerClient({ region: "local", endpoint: dev.secretsUrl, credentials });
  return { sdk, id: localSecretName("token-key") };
};

/** Whether there is a previous key, whose tokens a rotation would invalidate. */
const hasPrevious = async ({ sdk, id }: ReturnType<typeof findSecret>): Promise<boolean> => {
  try {
    await sdk.send(new GetSecretValueCommand({ SecretId: id, VersionStage: "AWSPREVIOUS" }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw error;
  }
};

/** @throws CommandError if the previous key may still be in use, because a rotation discards it. */
const requireAge = async (secret: ReturnType<typeof findSecret>) => {
  if (!(await hasPrevious(secret))) return;
  const { sdk, id } = secret;
  const { CreatedDate } = await sdk.send(new GetSecretValueCommand({ SecretId: id }));
  const ageSeconds = (Date.now() - (CreatedDate?.getTime() ?? 0)) / 1_000;
  // a function may sign with the previous key for another `maxAgeSeconds`
  const safeSeconds = lifetimeSeconds + maxAgeSeconds;
  if (ageSeconds < safeSeconds)
    throw new CommandError(
      `The current key is ${Math.floor(ageSeconds / 60)} minutes old, so tokens of the previous key may still be ` +
        `valid. Try again in ${Math.ceil((safeSeconds - ageSeconds) / 60)} minutes, or use --force to invalidate those tokens now.`,
    );
};

/** @throws CommandError if the rotation does not finish in time. */
const rotate = async ({ sdk, id }: ReturnType<typeof findSecret>): Promise<Reply> => {
  const until = Date.now() + maxWaitMs;
  const rotated = await sdk.send(new RotateSecretCommand({ SecretId: id }));
  for (;;) {
    const current = await sdk.send(new GetSecretValueCommand({ SecretId: id }));
    if (current.VersionId === rotated.VersionId) {
      const { kid } = z.parse(tokenKeySchema(), JSON.parse(current.SecretString ?? "null"));
      const text = `${id} has the new key ${kid}. All functions sign with it within five minutes.`;
      return { text, json: { secret: id, kid } };
    }
    if (Date.now() >= until)
      throw new CommandError(
        `The rotation of ${id} has not finished within ${maxWaitMs / 1_000} s. Secrets Manager retries ` +
          "it; the log of the function rotate contains the error.",
      );
    await setTimeout(1_000);
  }
};

export const run = command(
  "token-key",
  "Rotate the key that signs access tokens.\n\n" +
    "The key is that of the running npm run dev, or the secret TOKEN_KEY_SECRET_ID with AWS_REGION and credentials that " +
    "may read and rotate it and invoke the rotation function.",
  (program, answer) => {
    program
      .command("new")
      .description("print a new key")
      .action(
        answer(() => {
          const key = secretTable["token-key"].mint();
          return { text: JSON.stringify(key), json: key };
        }),
      );
    program
      .command("rotate")
      .description("rotate the key now; tokens of the previous key stay valid until they expire")
      .option("--force", "rotate also when tokens of the key before the previous one may still be valid")
      .action(
        answer(async ({ force }) => {
          const secret = findSecret();
          if (!force) await requireAge(secret);
          return rotate(secret);
        }),
      );
  },
);

if (import.meta.main) await runCommand(run);
