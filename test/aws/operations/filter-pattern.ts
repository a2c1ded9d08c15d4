/**
 * Reads the part of CloudWatch's filter patterns that the figures use: comparisons of a JSON line's fields with a
 * text, which may end in an asterisk, or with a least number, all of which must hold.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export const matches = (pattern: string, line: unknown): boolean => {
  const [, inner = ""] = /^\{ (.+) \}$/.exec(pattern) ?? [];
  return inner.split(" && ").every((term) => {
    const [, path = "", operator, text, least] = /^\$\.([\w.]+) (=|>=) (?:"([^"]*)"|(\d+))$/.exec(term) ?? [];
    if (!operator) throw new Error(`a pattern that this does not know: ${term}`);
    // biome-ignore lint/suspicious/noExplicitAny: a log line
    const value = path.split(".").reduce<any>((found, key) => found?.[key], line);
    if (operator === ">=") return typeof value === "number" && value >= Number(least);
    if (typeof value !== "string") return false;
    return text?.endsWith("*") ? value.startsWith(text.slice(0, -1)) : value === text;
  });
};
