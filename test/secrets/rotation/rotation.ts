import { randomUUID } from "node:crypto";
import { bundleFolder } from "../../../infra/build/build.ts";
import { type Lambda, startLambda } from "../../../infra/local/lambda/lambda.ts";
import type { OwnCity } from "../../steps/own-city.ts";

export const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;
export type Step = (typeof steps)[number];

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

/** The function of the bundle that is deployed, with what it is given there. */
export const startRotator = (own: OwnCity): Lambda =>
  startLambda({
    name: "rotate",
    folder: bundleFolder("rotate"),
    variables: own.city.variables({ secrets: {} }),
    timeoutSeconds: 30,
    onLine: (line) => own.lines.push(line),
  });

/** Begins a rotation: from now on the secret has a coming version, which is still empty. */
export const beginRotation = (own: OwnCity, rotator: Lambda, name: string): Rotation => {
  const id = `municipal/local/${name}`;
  const token = own.city.secrets.begin(id);
  const invoke = async (step: Step) => {
    const event = { Step: step, SecretId: id, ClientRequestToken: token };
    const outcome = await rotator.invoke(event, randomUUID());
    if ("errorMessage" in outcome) throw new Error(outcome.errorMessage);
  };
  const upTo = async (last: Step) => {
    for (const step of steps.slice(0, steps.indexOf(last) + 1)) await invoke(step);
  };
  const conduct = async (left = maxAttempts): Promise<void> =>
    upTo("finishSecret").catch((error: unknown) => {
      if (left === 1) throw error;
      return conduct(left - 1);
    });
  return { do: invoke, upTo, conduct: () => conduct() };
};
