/**
 * Returns the path parameters of a route such as `/files/{id}`, or undefined if the path does not match. As in API
 * Gateway, a parameter must not be empty, and a trailing slash matters.
 */
export const readPath = (template: string, path: string): Record<string, string> | undefined => {
  const wanted = template.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = given[i] ?? "";
    const name = segment.match(/^\{(\w+)\}$/)?.[1];
    if (name === undefined ? segment !== value : value === "") return undefined;
    if (name !== undefined) params[name] = value;
  }
  return params;
};
