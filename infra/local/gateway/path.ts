/**
 * Removes a slash at the end of a page's address, which API Gateway ignores (aws-powertools/powertools-lambda-python pull
 * request 1609). At the endpoints it matters here: the contract's cases expect 404.
 */
export const withoutPageSlash = (template: string, path: string): string =>
  template.startsWith("/docs") ? path.replace(/(?<=.)\/$/, "") : path;

/**
 * Returns the path parameters of a route such as `/files/{id}`, or undefined if the path does not match. As in API
 * Gateway, a parameter must not be empty, and the last one takes all further segments if it has a plus.
 */
export const readPath = (template: string, path: string): Record<string, string> | undefined => {
  const wanted = template.split("/");
  const segments = withoutPageSlash(template, path).split("/");
  const last = wanted.length - 1;
  const isGreedy = template.endsWith("+}") && segments.length > last;
  const given = isGreedy ? [...segments.slice(0, last), segments.slice(last).join("/")] : segments;
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = given[i] ?? "";
    const name = segment.match(/^\{(\w+)\+?\}$/)?.[1];
    if (name === undefined ? segment !== value : value === "") return undefined;
    if (name !== undefined) params[name] = value;
  }
  return params;
};
