import { setTimeout } from "node:timers/promises";

type FindPlan = (usageIdentifier: string) => Promise<string | undefined>;

const patienceMs = 1_000;

/**
 * Usage plans as API Gateway knows them: beside the database, so that an outage of the database is not one
 * of the gateway. A known plan is answered at once and looked up again for the next time.
 */
export const rememberPlans = (findPlan: FindPlan): FindPlan => {
  const known = new Map<string, string>();
  const refresh = async (usageIdentifier: string) => {
    const plan = await findPlan(usageIdentifier);
    if (plan) known.set(usageIdentifier, plan);
    return plan;
  };
  return async (usageIdentifier) => {
    const refreshed = refresh(usageIdentifier).catch(() => undefined);
    return known.get(usageIdentifier) ?? Promise.race([refreshed, setTimeout(patienceMs, undefined)]);
  };
};
