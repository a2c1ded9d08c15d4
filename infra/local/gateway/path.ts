/**
 * What stands in the segments in braces of a route's path, such as `{id}`, or undefined for another address.
 * As API Gateway has it, a segment in braces takes one that is not empty, and slashes count.
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
