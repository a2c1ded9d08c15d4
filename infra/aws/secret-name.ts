import type { SecretName } from "#lib/secrets/table/table.ts";

/** What the full names of a stage's secrets begin with. */
export const secretsPrefix = (stage: string): string => `municipal/${stage}/`;

export const secretName = (stage: string, name: SecretName): string => `${secretsPrefix(stage)}${name}`;
