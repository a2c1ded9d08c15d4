import type { SecretName } from "#lib/secrets/table/table.ts";

/** What the full names of a stage's secrets begin with. */
export const secretsPrefix = (stage: string): string => `municipal/${stage}/`;

export const secretName = (stage: string, name: SecretName): string => `${secretsPrefix(stage)}${name}`;

/** Returns the full name of a usage plan in a stage. `npm run partner` finds the plan by it. */
export const usagePlanName = (stage: string, plan: string): string => `municipal-${stage}-${plan}`;
