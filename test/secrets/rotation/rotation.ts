import { rotationSteps } from "#lib/secrets/table/rotation.ts";
import type { OwnCity } from "../../steps/city/own-city.ts";

export type Step = (typeof rotationSteps)[number];

/** One rotation of a secret, as Secrets Manager conducts it: step by step, and from the first on after a failure. */
export interface Rotation {
  /** Has a step done. @throws Error with what the function failed by. */
  do(step: Step): Promise<void>;
  /** Has the steps done in their order, up to and with the last one. */
  upTo(last: Step): Promise<void>;
  /** Has all steps done, and after a failure all of them again, some few times. */
  conduct(): Promise<void>;
}

const maxAttempts = 5;

/** Invokes the function of the bundle that is deployed. @throws Error with what it failed by. */
export const rotateStep = async (own: OwnCity, step: Step, name: string, token: string): Promise<void> => {
  const arn = `arn:aws:secretsmanager:local:000000000000:secret:${name}-AbCdEf`;
  const event = { Step: step, SecretId: arn, ClientRequestToken: token };
  const outcome = await own.city.invoke("rotate", event);
  if ("errorMessage" in outcome) throw new Error(outcome.errorMessage);
};

/** Begins a rotation: from now on the secret has a coming version, which is still empty. */
export const beginRotation = (own: OwnCity, name: string): Rotation => {
  const id = `municipal/local/${name}`;
  const token = own.city.secrets.begin(id);
  const invoke = (step: Step) => rotateStep(own, step, id, token);
  const upTo = async (last: Step) => {
    for (const step of rotationSteps.slice(0, rotationSteps.indexOf(last) + 1)) await invoke(step);
  };
  const conduct = async (left = maxAttempts): Promise<void> =>
    upTo("finishSecret").catch((error: unknown) => {
      if (left === 1) throw error;
      return conduct(left - 1);
    });
  return { do: invoke, upTo, conduct: () => conduct() };
};
