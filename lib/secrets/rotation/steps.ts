import * as z from "zod/mini";
import { findVersion, listStages, makeCurrent, writeVersion } from "#lib/secrets/secret-version.ts";
import { findRotation } from "./kinds.ts";

/**
 * What Secrets Manager asks for in a rotation, in this order. A step that fails is asked for again, from the
 * first on and with the same version, so that each must bear to be done twice.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
 */
export const RotationStep = z.object({
  Step: z.enum(["createSecret", "setSecret", "testSecret", "finishSecret"]),
  /** ARN of the secret. */
  SecretId: z.string(),
  /** Id of the version that is to become the current one. */
  ClientRequestToken: z.string(),
});
export type RotationStep = z.infer<typeof RotationStep>;

interface Versions {
  readonly coming: string;
  readonly current: string;
  readonly previous: string | undefined;
}

/** @throws Error when the rotation is none that Secrets Manager has begun. */
const findVersions = async ({ SecretId, ClientRequestToken }: RotationStep): Promise<Versions> => {
  const stages = Object.entries(await listStages(SecretId));
  const find = (stage: string) => stages.find(([, held]) => held.includes(stage))?.[0];
  const current = find("AWSCURRENT");
  if (!current) throw new Error(`secret ${SecretId} has no current version to rotate`);
  const isKnown = stages.some(([id]) => id === ClientRequestToken);
  if (!isKnown) throw new Error(`secret ${SecretId} has no version ${ClientRequestToken} to rotate to`);
  return { coming: ClientRequestToken, current, previous: find("AWSPREVIOUS") };
};

/** Does one step. @throws Error that names the secret, never its content. */
export const rotate = async (step: RotationStep): Promise<void> => {
  const id = step.SecretId;
  const { coming, current, previous } = await findVersions(step);
  if (coming === current) return; // an earlier attempt has come to its end
  const value = await findVersion(id, current);
  const next = await findVersion(id, coming);
  const rotation = findRotation(value);
  if (!rotation) throw new Error(`secret ${id} has a shape that nobody here rotates`);
  switch (step.Step) {
    case "createSecret":
      if (next !== undefined) return;
      return writeVersion(
        id,
        { ...(value as object), ...rotation.next() },
        { versionId: coming, stage: "AWSPENDING" },
      );
    case "setSecret":
      return rotation.install(next, [value, previous && (await findVersion(id, previous))]);
    case "testSecret":
      return rotation.prove(next);
    case "finishSecret":
      return makeCurrent(id, coming, current);
  }
};
