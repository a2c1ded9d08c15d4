import { setTimeout } from "node:timers/promises";
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  RotateSecretCommand,
} from "@aws-sdk/client-secrets-manager";
import * as z from "zod/mini";
import { lifetimeSeconds } from "#lib/employee/access-token.ts";
import { maxAgeSeconds } from "#lib/employee/token-key.ts";
import { tokenKeySchema } from "#lib/secrets/schemas.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { CommandError, type Reply } from "./command.ts";
import { noun, openSecret } from "./stage.ts";

/** Secrets Manager invokes the function four times. It retries a failed rotation later. */
const maxWaitMs = 60_000;

/** Whether there is a previous key, whose tokens a rotation would invalidate. */
const hasPrevious = async ({ sdk, id }: ReturnType<typeof openSecret>): Promise<boolean> => {
  try {
    await sdk.send(new GetSecretValueCommand({ SecretId: id, VersionStage: "AWSPREVIOUS" }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw error;
  }
};

/** @throws CommandError if the previous key may still be in use, because a rotation discards it. */
const requireAge = async (secret: ReturnType<typeof openSecret>) => {
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
const rotate = async ({ sdk, id }: ReturnType<typeof openSecret>): Promise<Reply> => {
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

export const run = noun(
  "token-key",
  "Rotate the key that signs access tokens. On a stage, the credentials may read and rotate its secret, and invoke the function that rotates.",
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
          const secret = openSecret("token-key");
          if (!force) await requireAge(secret);
          return rotate(secret);
        }),
      );
  },
);
