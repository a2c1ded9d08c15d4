/** What the intrinsic functions of a template read. */
export interface Lookups {
  refer(logicalId: string): string;
  attribute(logicalId: string, name: string): string;
  exported(name: string): string;
  output(stack: string, name: string): string;
}

/** Every reference of a value to a resource of the same template. */
export const listReferences = (value: unknown): Set<string> => {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    // of a list, too
    for (const [name, argument] of Object.entries(part)) {
      if (name === "Ref") found.add(String(argument));
      else if (name === "Fn::GetAtt") found.add(String([argument].flat()[0]).split(".")[0] ?? "");
      else if (name === "Fn::Sub")
        for (const [, id = ""] of String([argument].flat()[0]).matchAll(/\$\{(\w+)[.}]/g)) found.add(id);
      visit(argument);
    }
  };
  visit(value);
  return found;
};

const reading = ["Ref", "Fn::GetAtt", "Fn::ImportValue", "Fn::GetStackOutput", "Fn::Sub"];
const known = new WeakMap<object, boolean>();

/** Whether nothing of a value depends on other resources; templates do not change. */
const isConstant = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true;
  const found = known.get(value);
  if (found !== undefined) return found;
  const isKnown = Object.entries(value).every(([name, item]) => !reading.includes(name) && isConstant(item));
  known.set(value, isKnown);
  return isKnown;
};

/**
 * Returns a value with its references as physical ids, and a part without any as it is. Functions that only combine values
 * stay as they are, with these.
 */
export const resolve = (value: unknown, lookups: Lookups): unknown => {
  const visit = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null || isConstant(part)) return part;
    if (Array.isArray(part)) return part.map(visit);
    const [[name, argument] = ["", undefined], ...more] = Object.entries(part);
    if (more.length === 0) {
      if (name === "Ref") return lookups.refer(argument);
      if (name === "Fn::GetAtt") {
        const [id, attribute] = typeof argument === "string" ? argument.split(/\.(.*)/s) : argument;
        return lookups.attribute(id, attribute);
      }
      if (name === "Fn::ImportValue") return lookups.exported(String(visit(argument)));
      if (name === "Fn::GetStackOutput")
        return lookups.output(String(visit(argument.StackName)), argument.OutputName);
      if (name === "Fn::Sub") return substitute(argument);
    }
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, visit(item)]));
  };
  const substitute = (argument: unknown) => {
    const [text, variables] = [argument].flat() as [string, Record<string, unknown>?];
    return text.replace(/\$\{([^!}]+)\}/g, (_, name: string) => {
      if (variables && name in variables) return JSON.stringify(visit(variables[name]));
      const [id = "", attribute] = name.split(/\.(.*)/s);
      return attribute ? lookups.attribute(id, attribute) : lookups.refer(id);
    });
  };
  return visit(value);
};
