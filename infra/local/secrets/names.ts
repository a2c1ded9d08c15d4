/** A stage's full name of a secret that a route or a role names. */
export const secretName = (name: string): string => `municipal/local/${name}`;
