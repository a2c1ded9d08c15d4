import { parseArgs } from "node:util";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { findSetting } from "#lib/config.ts";
import { lifetimeSeconds } from "#lib/employee/access-token.ts";
import { maxAgeSeconds, mintTokenKey } from "#lib/employee/token-key.ts";
import { secretName } from "../aws/secret-name.ts";
import { findDevFile, localFolder, localStage } from "../local/dev-file.ts";
import { CommandError, command, runCommand } from "./command.ts";

const usage = `Usage:
  npm run --silent token-key -- new     prints a key, for the first version of the secret
  npm run token-key -- rotate [--force] signs access tokens with a new key from now on

After a rotation, tokens of the key before it stay valid until they expire. The secret is that of the
running «npm run dev», or TOKEN_KEY_SECRET_ID with AWS_REGION and credentials that may read and write it.`;

/** Secrets Manager, and the name of the secret in it. */
const findSecret = () => {
  const id = findSetting("TOKEN_KEY_SECRET_ID");
  if (id) return { sdk: new SecretsManagerClient({}), id };
  const dev = findDevFile(localFolder);
  if (!dev)
    throw new CommandError(
      "There is no secret to rotate. Start «npm run dev» in another terminal, or set TOKEN_KEY_SECRET_ID " +
        "with AWS_REGION and credentials.",
    );
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const sdk = new SecretsManagerClient({ region: "local", endpoint: dev.secretsUrl, credentials });
  return { sdk, id: secretName(localStage, "token-key") };
};

/** @throws CommandError when the key before the current one may still be in use: it would be lost. */
const requireAge = async ({ sdk, id }: ReturnType<typeof findSecret>) => {
  const { CreatedDate } = await sdk.send(new GetSecretValueCommand({ SecretId: id }));
  const ageSeconds = (Date.now() - (CreatedDate?.getTime() ?? 0)) / 1_000;
  // a function may sign with the key before for `maxAgeSeconds` more
  const safeSeconds = lifetimeSeconds + maxAgeSeconds;
  if (ageSeconds < safeSeconds)
    throw new CommandError(
      `The current key is ${Math.floor(ageSeconds / 60)} minutes old: tokens of a key before it may still be ` +
        `in use. Wait until it is ${safeSeconds / 60}, or give --force to end those tokens now.`,
    );
};

const rotate = async ({ sdk, id }: ReturnType<typeof findSecret>) => {
  const key = mintTokenKey();
  await sdk.send(new PutSecretValueCommand({ SecretId: id, SecretString: JSON.stringify(key) }));
  console.log(`${id} has a new key, ${key.kid}; within five minutes every function signs with it`);
};

export const run = command(usage, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { force: { type: "boolean", default: false } },
  });
  switch (positionals.join(" ")) {
    case "new":
      console.log(JSON.stringify(mintTokenKey()));
      return 0;
    case "rotate": {
      const secret = findSecret();
      if (!values.force) await requireAge(secret);
      await rotate(secret);
      return 0;
    }
    default:
      throw new CommandError("Choose new or rotate");
  }
});

if (import.meta.main) await runCommand(run);
