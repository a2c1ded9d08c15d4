import { log } from "#lib/log.ts";
import { RotationStep, rotate } from "#lib/secrets/table/rotation.ts";

/** Runs one step of a secret's rotation for Secrets Manager, which retries a failed step. */
export const handler = async (event: unknown): Promise<void> => {
  const step = RotationStep.parse(event);
  await rotate(step);
  log.info("rotation step done", { step: step.Step, id: step.SecretId });
};
