/** A stage's full name of a secret that a route or a role names. */
export const secretName = (stage: string, name: string): string => `municipal/${stage}/${name}`;
