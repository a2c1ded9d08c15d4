type OneOrMore = string | readonly string[];

export interface Statement {
  readonly Effect: "Allow" | "Deny";
  readonly Action: OneOrMore;
  readonly Resource?: OneOrMore;
}

const asList = (value: OneOrMore = []): readonly string[] => (typeof value === "string" ? [value] : value);

/** Whether a pattern of a policy, with `*` for any text and `?` for any character, matches a name. */
export const covers = (pattern: string, name: string): boolean => {
  const parts = pattern.split(/([*?])/).map((part) => ({ "*": ".*", "?": "." })[part] ?? RegExp.escape(part));
  return new RegExp(`^${parts.join("")}$`, "s").test(name);
};

/** Whether statements together allow an action. An explicit Deny takes precedence; the default is to deny. */
export const allows = (statements: readonly Statement[], action: string, resource: string): boolean => {
  const applying = statements.filter(
    ({ Action, Resource }) =>
      asList(Action).some((pattern) => covers(pattern.toLowerCase(), action.toLowerCase())) &&
      asList(Resource).some((pattern) => covers(pattern, resource)),
  );
  return applying.length > 0 && applying.every(({ Effect }) => Effect === "Allow");
};
