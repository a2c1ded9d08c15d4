/** Returns what is digested to count attempts for a name. Legacy systems compare names case-insensitively. */
export const nameTerm = (name: string): string => `name ${name.toLowerCase()}`;
