import type { AssemblyStack, Resource } from "./assembly.ts";
import { type Identity, identify, type Place } from "./identity.ts";

/** A resource with the values that CloudFormation would give its service. */
export interface Formed {
  readonly stack: string;
  readonly id: string;
  readonly type: string;
  readonly identity: Identity;
  // biome-ignore lint/suspicious/noExplicitAny: the template's own shape, read by who knows the type
  readonly properties: any;
  /** Logical ids in the same stack that exist before it. */
  readonly dependsOn: readonly string[];
}

/** The stacks as CloudFormation would form them, without an account. */
export interface Formation {
  readonly place: Place;
  list(type: string): Formed[];
  /** Folder of what `cdk deploy` would upload there. */
  findAsset(bucket: string, key: string): string | undefined;
}

/** Marks a property that `AWS::NoValue` removes. */
const noValue = Symbol("AWS::NoValue");
const asList = <T>(value: T | readonly T[] = []): readonly T[] =>
  Array.isArray(value) ? value : [value as T];

/**
 * Reads stacks as CloudFormation does: references within a stack and between stacks, pseudo parameters,
 * conditions. A function of the template language that it does not know, or a reference to nothing, is an error.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export const formStacks = (stacks: readonly AssemblyStack[], place: Place): Formation => {
  const identities = new Map<string, Identity>();
  const pseudo: Readonly<Record<string, unknown>> = {
    "AWS::AccountId": place.account,
    "AWS::Region": place.region,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::NoValue": noValue,
  };

  const readStack = ({ name: stackName, template }: AssemblyStack) => {
    const fail = (what: string): never => {
      throw new Error(`stack ${stackName}: ${what}`);
    };

    const getResource = (id: string): Resource => template.Resources[id] ?? fail(`nothing is named ${id}`);

    const getIdentity = (id: string): Identity => {
      const key = `${stackName}-${id}`;
      const known = identities.get(key);
      if (known) return known;
      const resource = getResource(id);
      const { Name, FunctionName, RoleName, StageName, SecretId } = resource.Properties ?? {};
      const naming = resolve({ Name, FunctionName, RoleName, StageName, SecretId }) as Record<
        string,
        unknown
      >;
      const identity = identify(resource, key, naming, place);
      identities.set(key, identity);
      return identity;
    };

    const refer = (id: string): unknown => {
      if (id === "AWS::StackName") return stackName;
      if (id in pseudo) return pseudo[id];
      const parameter = template.Parameters?.[id];
      return parameter ? parameter.Default : getIdentity(id).ref;
    };

    const getAttribute = (argument: string | readonly [string, string]) => {
      const [id, attribute] = typeof argument === "string" ? argument.split(/\.(.*)/s) : argument;
      return getIdentity(id ?? "").attribute(attribute ?? "");
    };

    const substitute = (argument: string | readonly [string, Record<string, unknown>]) => {
      const [text, variables] = typeof argument === "string" ? [argument, {}] : argument;
      return text.replace(/\$\{(!?)([^}]+)\}/g, (_, escaped, name: string) => {
        if (escaped) return `\${${name}}`;
        if (name in variables) return String(resolve(variables[name]));
        return String(name.includes(".") ? getAttribute(name) : refer(name));
      });
    };

    const holds = (condition: unknown): boolean => {
      if (typeof condition === "string")
        return holds(template.Conditions?.[condition] ?? fail(`no condition ${condition}`));
      const [[name, argument] = ["", []]] = Object.entries(condition as Record<string, unknown>);
      const parts = argument as unknown[];
      if (name === "Condition") return holds(argument);
      if (name === "Fn::Equals") return resolve(parts[0]) === resolve(parts[1]);
      if (name === "Fn::And") return parts.every(holds);
      if (name === "Fn::Or") return parts.some(holds);
      return name === "Fn::Not" ? !holds(parts[0]) : fail(`no condition function ${name}`);
    };

    // biome-ignore lint/suspicious/noExplicitAny: each function of the language has an argument of its own
    const functions: Readonly<Record<string, (argument: any) => unknown>> = {
      Ref: refer,
      "Fn::GetAtt": getAttribute,
      "Fn::Sub": substitute,
      "Fn::Join": ([separator, parts]) => (resolve(parts) as unknown[]).join(separator),
      "Fn::Select": ([index, list]) => (resolve(list) as unknown[])[Number(index)],
      "Fn::Split": ([separator, text]) => String(resolve(text)).split(separator),
      "Fn::If": ([condition, yes, no]) => resolve(holds(condition) ? yes : no),
      "Fn::Base64": (text) => Buffer.from(String(resolve(text))).toString("base64"),
      "Fn::FindInMap": (keys) => {
        const [map, first, second] = resolve(keys) as [string, string, string];
        return template.Mappings?.[map]?.[first]?.[second] ?? fail(`no mapping ${map}.${first}.${second}`);
      },
      "Fn::ImportValue": (name) => importValue(String(resolve(name))),
      "Fn::GetStackOutput": ({ StackName, OutputName }) =>
        readOutput(String(resolve(StackName)), String(OutputName)),
    };

    const resolve = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(resolve).filter((item) => item !== noValue);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value);
      const [[name, argument] = ["", undefined]] = entries;
      if (entries.length === 1 && (name === "Ref" || name.startsWith("Fn::")))
        return (functions[name] ?? fail(`no function ${name}`))(argument);
      return Object.fromEntries(
        entries.map(([key, item]) => [key, resolve(item)]).filter(([, item]) => item !== noValue),
      );
    };

    const exists = ({ Condition }: Resource) => Condition === undefined || holds(Condition);

    return {
      resolve,
      list: (type: string): Formed[] =>
        Object.entries(template.Resources)
          .filter(([, resource]) => resource.Type === type && exists(resource))
          .map(([id, resource]) => ({
            stack: stackName,
            id,
            type,
            identity: getIdentity(id),
            properties: resolve(resource.Properties ?? {}),
            dependsOn: asList(resource.DependsOn),
          })),
    };
  };

  const readers = new Map(stacks.map((stack) => [stack.name, readStack(stack)]));

  const readOutput = (stackName: string, output: string): unknown => {
    const value = stacks.find(({ name }) => name === stackName)?.template.Outputs?.[output]?.Value;
    if (value === undefined) throw new Error(`stack ${stackName} has no output ${output}`);
    return readers.get(stackName)?.resolve(value);
  };

  const importValue = (wanted: string): unknown => {
    for (const { name, template } of stacks)
      for (const [output, { Export }] of Object.entries(template.Outputs ?? {}))
        if (Export && readers.get(name)?.resolve(Export.Name) === wanted) return readOutput(name, output);
    throw new Error(`no stack exports ${wanted}`);
  };

  const placed = (text: string) =>
    text.replace(/\$\{(AWS::\w+)\}/g, (_, name: string) => String(pseudo[name]));
  const assets = new Map(
    stacks.flatMap((stack) => [...stack.assets].map(([key, folder]) => [placed(key), folder] as const)),
  );
  return {
    place,
    list: (type) => [...readers.values()].flatMap((reader) => reader.list(type)),
    findAsset: (bucket, key) => assets.get(`${bucket}/${key}`),
  };
};
