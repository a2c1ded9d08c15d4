/** Lower-cases header names: they are case-insensitive, keys of objects are not. */
export const lowerCaseNames = (
  headers: Record<string, string | undefined> | null,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
