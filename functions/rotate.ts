import { log } from "#lib/log.ts";
import { RotationStep, rotate } from "#lib/secrets/rotation/steps.ts";

/** Does one step of a secret's rotation, as Secrets Manager asks for it. A failed step is asked for again. */
export const handler = async (event: unknown): Promise<void> => {
  const step = RotationStep.parse(event);
  await rotate(step);
  log.info("rotation step done", { step: step.Step, id: step.SecretId });
};
