import { deadline } from "#lib/deadline.ts";

type FindPlan = (usageIdentifier: string) => Promise<string | undefined>;

const timeoutMs = 1_000;

/**
 * Caches usage plans, because API Gateway does not depend on the database either. A known plan is returned at once and
 * refreshed for the next call.
 */
export const cachePlans = (findPlan: FindPlan): FindPlan => {
  const known = new Map<string, string>();
  const refresh = async (usageIdentifier: string) => {
    const plan = await findPlan(usageIdentifier);
    if (plan) known.set(usageIdentifier, plan);
    return plan;
  };
  return async (usageIdentifier) => {
    const refreshed = deadline(refresh(usageIdentifier), timeoutMs).catch(() => undefined);
    return known.get(usageIdentifier) ?? refreshed;
  };
};
