import * as z from "zod/mini";
import { listStages, makeCurrent, readVersion, writeVersion } from "#lib/secret-version.ts";
import { findRotation, type Rotation } from "./kinds.ts";

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

const getRotation = (id: string, value: unknown): Rotation => {
  const rotation = findRotation(value);
  if (!rotation) throw new Error(`secret ${id} has a shape that nobody here rotates`);
  return rotation;
};

/** The coming version's value, or undefined before `createSecret` has written it. */
const findComing = (id: string, { coming }: Versions): Promise<unknown> =>
  readVersion(id, coming).catch((error: unknown) => {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return undefined;
    throw error;
  });

/** Does one step. @throws Error that names the secret, never its content. */
export const rotate = async (step: RotationStep): Promise<void> => {
  const id = step.SecretId;
  const versions = await findVersions(step);
  const { coming, current, previous } = versions;
  if (coming === current) return; // an earlier attempt has come to its end
  const value = await readVersion(id, current);
  const rotation = getRotation(id, value);
  switch (step.Step) {
    case "createSecret": {
      if ((await findComing(id, versions)) !== undefined) return;
      const next = { ...(value as object), ...rotation.next() };
      return writeVersion(id, next, { versionId: coming, stage: "AWSPENDING" });
    }
    case "setSecret": {
      const former = previous === undefined ? [] : [await readVersion(id, previous)];
      return rotation.install(await readVersion(id, coming), [value, ...former]);
    }
    case "testSecret":
      return rotation.prove(await readVersion(id, coming));
    case "finishSecret":
      return makeCurrent(id, coming, current);
  }
};
