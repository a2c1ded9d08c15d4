import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";
import { roles } from "#lib/messenger/console/login/roles.ts";
import { mintToken } from "#lib/opaque-token.ts";
import { hashPassword } from "#lib/password-hash.ts";
import { consoleSchema } from "#lib/secrets/schemas.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { localSecretName } from "../local/secrets/store.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { formatTable } from "./listing.ts";

const usage = `Usage:
  npm run operators -- list                   lists the operators of the messenger's console and their roles
  npm run operators -- add NAME --role ROLE   adds an operator, or gives one a new role and password; prints the password
  npm run operators -- remove NAME            removes an operator

Roles: viewer sees everything and changes nothing; operator pauses, connects, links and opts numbers out; admin also unlinks.
The command changes the running npm run dev, or the secret CONSOLE_SECRET_ID with AWS_REGION and credentials that may read
and write it. The console knows the change within a minute; a login that has begun lasts until it ends.`;

type Contents = z.infer<ReturnType<typeof consoleSchema>>;

/** Returns a Secrets Manager client and the name of the secret. */
const findSecret = () => {
  const SecretId = findSetting("CONSOLE_SECRET_ID");
  if (SecretId) return { sdk: new SecretsManagerClient({}), SecretId };
  const dev = findDevFile(localFolder);
  if (!dev)
    throw new CommandError(
      "No console was found. To start a local system, run npm run dev in another terminal. For a deployed stage, set " +
        "CONSOLE_SECRET_ID with AWS_REGION and AWS credentials.",
    );
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const sdk = new SecretsManagerClient({ region: "local", endpoint: dev.secretsUrl, credentials });
  return { sdk, SecretId: localSecretName("messenger-console") };
};

const read = async ({ sdk, SecretId }: ReturnType<typeof findSecret>): Promise<Contents> => {
  const { SecretString } = await sdk.send(new GetSecretValueCommand({ SecretId }));
  return z.parse(consoleSchema(), JSON.parse(SecretString ?? "null"));
};

const change = async (edit: (users: Contents["users"]) => Contents["users"]): Promise<void> => {
  const secret = findSecret();
  const contents = await read(secret);
  const SecretString = JSON.stringify({ ...contents, users: edit(contents.users) });
  await secret.sdk.send(new PutSecretValueCommand({ SecretId: secret.SecretId, SecretString }));
};

const readName = (name: string | undefined): string => {
  if (!name || name.length > 200) throw new CommandError("Give the name of the operator.");
  return name;
};

export const run = verbCommand(usage, { role: { type: "string" } } as const, {
  list: async () => {
    const { users } = await read(findSecret());
    const rows = users.map(({ username, role }) => [username, role]);
    console.log(rows.length > 0 ? formatTable(["name", "role"], rows) : "No operators.");
  },
  "add NAME": async ({ role: given }, typed) => {
    const username = readName(typed);
    const role = roles.find((one) => one === given);
    if (!role) throw new CommandError(`--role must be ${roles.join(", ")}, not ${given ?? "missing"}.`);
    const password = mintToken("");
    const hash = await hashPassword(password);
    await change((users) => [
      ...users.filter((user) => user.username !== username),
      { username, role, hash },
    ]);
    console.log(`${username} is ${role}. Password, shown only now: ${password}`);
  },
  "remove NAME": async (_, typed) => {
    const username = readName(typed);
    await change((users) => {
      const left = users.filter((user) => user.username !== username);
      if (left.length === users.length) throw new CommandError(`No operator ${username}.`);
      return left;
    });
    console.log(`${username} is no operator any more.`);
  },
});

if (import.meta.main) await runCommand(run);
