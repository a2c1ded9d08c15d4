/** HTTP header names are case-insensitive, objects are not: the same headers with names in lower case. */
export const lowerCaseNames = (
  headers: Record<string, string | undefined> | null,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
