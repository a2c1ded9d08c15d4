/** Returns the full name of a secret in a stage. */
export const secretName = (stage: string, name: string): string => `municipal/${stage}/${name}`;
