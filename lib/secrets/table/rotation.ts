import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { Credentials } from "#lib/db/credentials.ts";
import { logsIn, setPassword, withLogin } from "#lib/db/password.ts";
import { mintToken } from "#lib/opaque-token.ts";
import { findSecret, type Stage } from "#lib/secrets/secret.ts";
import { listStages, makeCurrent, writeVersion } from "#lib/secrets/secret-version.ts";
import { type SecretName, secretTable } from "#lib/secrets/table/table.ts";

/** In the order in which Secrets Manager requests them. */
export const rotationSteps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;

/**
 * The request of Secrets Manager for a step of a rotation. After a failed step it repeats all of them, with the same
 * version, so each step must be idempotent.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
export const RotationStep = z.object({
  Step: z.enum(rotationSteps),
  /** ARN of the secret. */
  SecretId: z.string(),
  /** ID of the version that becomes the current one. */
  ClientRequestToken: z.string(),
});
export type RotationStep = z.infer<typeof RotationStep>;

/** The row of a secret's ARN, which ends in six random characters. @throws Error unless it is rotated. */
const getRotated = (arn: string) => {
  const [, fullName = ""] = /:secret:(.+)-\w{6}$/.exec(arn) ?? [];
  const prefix = getSetting("SECRETS_PREFIX");
  const name = fullName.startsWith(prefix) ? fullName.slice(prefix.length) : "";
  if (!Object.hasOwn(secretTable, name)) throw new Error(`secret ${arn} is none of the stage's`);
  const row = secretTable[name as SecretName];
  const { rotation } = row;
  if ("never" in rotation) throw new Error(`secret ${arn} is never rotated: ${rotation.never}`);
  return { row, method: rotation.method };
};

/** Runs one step. @throws Error that names the secret, never its content. */
export const rotate = async ({ Step, SecretId: id, ClientRequestToken }: RotationStep): Promise<void> => {
  const { row, method } = getRotated(id);
  const stages = await listStages(id);
  const current = Object.keys(stages).find((version) => stages[version]?.includes("AWSCURRENT"));
  if (!current) throw new Error(`secret ${id} has no current version to rotate`);
  if (current === ClientRequestToken) return; // an earlier attempt finished
  if (!stages[ClientRequestToken]?.includes("AWSPENDING"))
    throw new Error(`secret ${id} has no version ${ClientRequestToken} to rotate to`);
  const read = (stage: Stage) => findSecret(id, z.unknown(), stage);
  const next = await read("AWSPENDING");
  switch (Step) {
    case "createSecret": {
      if (next !== undefined) return;
      const value =
        "mint" in row ? row.mint() : { ...Object(await read("AWSCURRENT")), password: mintToken("") };
      if (!row.schema().safeParse(value).success)
        throw new Error(`secret ${id} has another shape than expected`);
      return writeVersion(id, value, { versionId: ClientRequestToken, stage: "AWSPENDING" });
    }
    case "setSecret":
      if (method !== "password") return;
      return installPassword(next, [await read("AWSCURRENT"), await read("AWSPREVIOUS")]);
    case "testSecret":
      return method === "password" ? testPassword(next) : undefined;
    case "finishSecret":
      return makeCurrent(id, ClientRequestToken, current);
  }
};

/**
 * Sets the new password of a database role, as that role: no rotation needs the administrator. Does nothing if it is
 * set already.
 *
 * @param known values that may be valid now, the most likely one first.
 * @throws Error when none of them is.
 */
const installPassword = async (next: unknown, known: readonly unknown[]): Promise<void> => {
  const credentials = Credentials.parse(next);
  if (await logsIn(credentials)) return;
  for (const value of known) {
    const { data: former } = Credentials.safeParse(value);
    if (!former || !(await logsIn(former))) continue;
    return withLogin(former, (sql) => setPassword(sql, credentials.username, credentials.password));
  }
  throw new Error("the database rejects every password of the secret; the migration sets a new one");
};

/** @throws Error when the database rejects the new password. */
const testPassword = async (next: unknown): Promise<void> => {
  if (!(await logsIn(Credentials.parse(next)))) throw new Error("the database rejects the new password");
};
