/** Returns the full name of a usage plan in a stage. `npm run partner` finds the plan by it. */
export const usagePlanName = (stage: string, plan: string): string => `municipal-${stage}-${plan}`;
