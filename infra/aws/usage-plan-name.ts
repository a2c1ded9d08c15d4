/** A stage's full name of a usage plan: CloudFormation gives it, and `npm run partner` finds the plan by it. */
export const usagePlanName = (stage: string, plan: string): string => `municipal-${stage}-${plan}`;
