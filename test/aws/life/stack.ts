import { type Account, dataOf, type LiveStack, type Thing } from "./account.ts";
import type { Report } from "./finding.ts";
import { typeOf } from "./resource-types.ts";
import { listWaiting, planOf, type Resource, type StackTemplate } from "./template.ts";
import { type Lookups, resolve } from "./values.ts";

/** One stack that is changed, and where the findings go. */
export interface Operation {
  readonly account: Account;
  readonly stack: StackTemplate;
  readonly report: Report;
  /** Logical id of the resource that fails. */
  readonly failsAt?: string | undefined;
  /** Whether retained resources are taken over by their names: `--import-existing-resources`. */
  readonly isImporting?: boolean | undefined;
}

/** The service or CloudFormation rejects a step, and the operation is rolled back. */
class Refusal extends Error {
  readonly resource: string;

  constructor(resource: string, what: string) {
    super(what);
    this.resource = resource;
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const lookIn = (account: Account, ids: ReadonlyMap<string, string>): Lookups => ({
  refer: (id) => ids.get(id) ?? `<${id}>`,
  attribute: (id, name) => `${ids.get(id)}.${name}`,
  exported: (name) => {
    for (const { exports } of account.stacks.values()) if (exports.has(name)) return exports.get(name) ?? "";
    throw new Refusal(name, "refused: no stack exports it");
  },
  output: (stack, name) => {
    const value = account.stacks.get(stack)?.outputs.get(name);
    if (value === undefined) throw new Refusal(`${stack}.${name}`, "refused: no stack has this output");
    return value;
  },
});

/** The default of a database is a snapshot (page of the attribute DeletionPolicy). */
const policyOf = ({ Type, Properties, DeletionPolicy }: Resource): string => {
  const isServer = /^AWS::RDS::DB(Cluster|Instance)$/.test(Type) && !Properties?.DBClusterIdentifier;
  return DeletionPolicy ?? (Type === "AWS::RDS::DBCluster" || isServer ? "Snapshot" : "Delete");
};

/** Deletes a resource that a stack no longer has, by its policy. Returns whether it is out of the stack. */
const release = ({ account, report }: Operation, thing: Thing, policy: string): boolean => {
  const resource = `${thing.stack}/${thing.logicalId}`;
  if (policy.startsWith("Retain")) {
    account.put({ ...thing, isOrphan: true });
    report(resource, "orphaned: it is retained");
    return true;
  }
  const use = account.findUse(thing);
  if (use) {
    report(resource, `refused: it cannot be deleted, it ${use}`);
    return false;
  }
  const data = dataOf(thing);
  if (data && policy !== "Snapshot") report(resource, `lost: ${data}`);
  account.delete(thing);
  return true;
};

/** Not of a version, but of the function as a whole. */
const ofFunction = ["ReservedConcurrentExecutions", "Tags"];

/** What a version holds for ever: the code and settings of its function at that moment. */
const publishedOf = (account: Account, functionId: unknown): string => {
  const { properties = {} } = account.things.get(String(functionId)) ?? {};
  return JSON.stringify(Object.entries(properties).filter(([key]) => !ofFunction.includes(key)));
};

/**
 * Adds to a version what it publishes. "Lambda doesn't publish a version if the function's configuration and code haven't
 * changed since the last version" (API_PublishVersion), and CloudFormation then fails.
 */
const publish = (
  { account, stack, report }: Operation,
  id: string,
  properties: Thing["properties"],
  current: Thing | undefined,
): Thing["properties"] => {
  const published = publishedOf(account, properties.FunctionName);
  if (current) {
    if (current.properties.published !== published)
      report(`${stack.name}/${id}`, "stale: its function has changed, and it is still the version before");
    return current.properties;
  }
  for (const other of account.things.values())
    if (
      other.type === "AWS::Lambda::Version" &&
      other.properties.FunctionName === properties.FunctionName &&
      other.properties.published === published
    )
      throw new Refusal(`${stack.name}/${id}`, "refused: a version with this code and these settings exists");
  return { ...properties, published };
};

/** Creates, changes or replaces one resource. Returns the thing that is made, if one is. */
const form = (operation: Operation, ids: Map<string, string>, id: string): Thing | undefined => {
  const { account, stack, isImporting } = operation;
  const { Type: type, Properties = {}, DeletionPolicy } = stack.template.Resources[id] as Resource;
  const given = resolve(Properties, lookIn(account, ids)) as Thing["properties"];
  const current = account.things.get(ids.get(id) ?? "");
  const properties = type === "AWS::Lambda::Version" ? publish(operation, id, given, current) : given;
  if (current?.type === type) {
    if (isSame(current.properties, properties)) return undefined;
    const isReplaced = typeOf(type).replacedBy?.some(
      (key) => !isSame(current.properties[key], properties[key]),
    );
    if (!isReplaced) {
      account.put({ ...current, properties });
      return undefined;
    }
  }
  const taken = account.findNamed(type, properties);
  const isKept = taken?.isOrphan && DeletionPolicy?.startsWith("Retain");
  if (isImporting && isKept && typeOf(type).isImportedByName) {
    account.put({ ...taken, stack: stack.name, logicalId: id, properties, isOrphan: false });
    ids.set(id, taken.id);
    return undefined;
  }
  if (taken)
    throw new Refusal(
      `${stack.name}/${id}`,
      `refused: its name is taken by ${taken.isOrphan ? "a retained" : "another"} ${taken.logicalId}`,
    );
  const made = account.create({ type, logicalId: id, properties, stack: stack.name });
  ids.set(id, made.id);
  return made;
};

/** Its call enables the deletion protection of the server (`infra/aws/constructs/protection.ts`). */
const protect = (account: Account, call: Thing | undefined): void => {
  if (call?.type !== "Custom::Protection") return;
  const text = JSON.stringify(call.properties);
  for (const thing of account.things.values())
    if (thing.type.startsWith("AWS::RDS::") && text.includes(thing.id))
      account.put({ ...thing, isProtected: true });
};

const readOutputs = ({ account, stack }: Operation, ids: ReadonlyMap<string, string>) => {
  const values = Object.entries(stack.template.Outputs ?? {}).map(([name, output]) => ({
    name,
    exported: output.Export?.Name,
    value: JSON.stringify(resolve(output.Value, lookIn(account, ids))),
  }));
  return {
    outputs: new Map(values.map(({ name, value }) => [name, value])),
    exports: new Map(values.flatMap(({ exported, value }) => (exported ? [[exported, value] as const] : []))),
  };
};

/**
 * An export that another stack imports can neither be removed nor changed (page "Get exported outputs from a deployed
 * CloudFormation stack").
 */
const requireExports = ({ account, stack }: Operation, exports: ReadonlyMap<string, string>): void => {
  for (const [name, value] of account.stacks.get(stack.name)?.exports ?? []) {
    const [importer] = account.listImporters(name);
    if (importer && exports.get(name) !== value)
      throw new Refusal(
        name,
        `refused: ${exports.has(name) ? "the change" : "the removal"} of an export that ${importer} uses`,
      );
  }
};

/** Undoes an operation. "Retain" also keeps what the operation itself made, "RetainExceptOnCreate" does not. */
const rollBack = ({ account, stack, report }: Operation, before: Account, made: readonly Thing[]): void => {
  const things = made.map(({ id }) => account.things.get(id) as Thing);
  account.restore(before);
  for (const thing of things) account.put(thing);
  const left = new Map<string, string>();
  for (const thing of things.toReversed()) {
    const { DeletionPolicy } = stack.template.Resources[thing.logicalId] as Resource;
    const use = account.findUse(thing);
    if (DeletionPolicy === "Retain") {
      account.put({ ...thing, isOrphan: true });
      report(`${stack.name}/${thing.logicalId}`, "orphaned: it is retained");
    } else if (use) {
      left.set(thing.logicalId, thing.id);
      report(`${stack.name}/${thing.logicalId}`, `refused: the rollback cannot delete it, it ${use}`);
    } else account.delete(thing);
  }
  if (before.stacks.has(stack.name)) return;
  const nothing = { outputs: new Map(), exports: new Map(), imports: new Set<string>() };
  account.stacks.set(stack.name, { source: stack, status: "creation failed", ids: left, ...nothing });
};

/** Deletes what the new template replaces or no longer has, once everything else is done. */
const cleanUp = (operation: Operation, live: LiveStack, ids: Map<string, string>): void => {
  const { Resources } = operation.stack.template;
  for (const id of planOf(live.source).order.toReversed()) {
    const old = operation.account.things.get(live.ids.get(id) ?? "");
    if (!old || ids.get(id) === old.id) continue;
    const before = live.source.template.Resources[id] as Resource;
    const policy = Resources[id] ? (Resources[id].UpdateReplacePolicy ?? "Delete") : policyOf(before);
    // the update is complete, whatever happens to what it no longer needs
    if (!release(operation, old, policy)) operation.account.put({ ...old, isOrphan: true });
  }
};

/**
 * Creates or updates a stack. Returns the logical ids of what was made or changed; undefined when it was rolled back.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
 */
export const change = (operation: Operation): readonly string[] | undefined => {
  const { account, stack, report, failsAt } = operation;
  const before = account.copy();
  const live = account.stacks.get(stack.name);
  const { order, imports } = planOf(stack);
  const ids = new Map([...(live?.ids ?? [])].filter(([id]) => id in stack.template.Resources));
  const waiting = failsAt ? listWaiting(stack, failsAt) : new Set();
  const made: Thing[] = [];
  const changed: string[] = [];
  try {
    for (const id of order) {
      if (waiting.has(id)) continue;
      const old = account.things.get(ids.get(id) ?? "");
      const thing = form(operation, ids, id);
      if (thing) made.push(thing);
      const now = account.things.get(ids.get(id) ?? "");
      if (now === old) continue;
      changed.push(id);
      protect(account, now);
    }
    if (failsAt) throw new Refusal("", "");
    const { outputs, exports } = readOutputs(operation, ids);
    requireExports(operation, exports);
    account.stacks.set(stack.name, { source: stack, status: "complete", ids, outputs, exports, imports });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.resource) report(error.resource, error.message);
    rollBack(operation, before, made);
    return undefined;
  }
  if (live) cleanUp(operation, live, ids);
  return changed;
};

/** Deletes a stack. Returns whether it is gone. */
export const remove = (operation: Operation): boolean => {
  const { account, report } = operation;
  const { name } = operation.stack;
  const live = account.stacks.get(name);
  if (!live) return true;
  // page "Protect CloudFormation stacks from being deleted"
  if (live.source.isProtected) {
    report(name, "refused: the stack has termination protection");
    return false;
  }
  for (const exported of live.exports.keys())
    for (const importer of account.listImporters(exported)) {
      report(exported, `refused: the removal of an export that ${importer} uses`);
      return false;
    }
  const { order, dependencies } = planOf(live.source);
  const left = new Map<string, string>();
  const needed = new Set<string>();
  for (const id of order.toReversed()) {
    const thing = account.things.get(live.ids.get(id) ?? "");
    if (!thing) continue;
    const resource = live.source.template.Resources[id] as Resource;
    if (!needed.has(id) && release({ ...operation, stack: live.source }, thing, policyOf(resource))) continue;
    left.set(id, thing.id);
    for (const other of dependencies.get(id) ?? []) needed.add(other);
  }
  if (left.size === 0) account.stacks.delete(name);
  else account.stacks.set(name, { ...live, status: "deletion failed", ids: left });
  return left.size === 0;
};

/**
 * Takes over what a deleted stack has left behind, by `cdk import`. Returns whether that was possible: "Resources that depend
 * on other resources must all be imported together" (page "cdk import").
 */
export const takeOver = ({ account, stack, report }: Operation): boolean => {
  const { imports, order, dependencies } = planOf(stack);
  const kept = [...account.things.values()].filter((thing) => thing.isOrphan && thing.stack === stack.name);
  const ids = new Map(kept.map(({ logicalId, id }) => [logicalId, id]));
  for (const id of order)
    for (const other of ids.has(id) ? (dependencies.get(id) ?? []) : [])
      if (!ids.has(other)) {
        report(
          `${stack.name}/${id}`,
          `refused: it cannot be imported without ${other}, which was not retained`,
        );
        return false;
      }
  for (const thing of kept) account.put({ ...thing, isOrphan: false });
  const { Resources } = stack.template;
  const template = { Resources: Object.fromEntries(Object.entries(Resources).filter(([id]) => ids.has(id))) };
  const nothing = { outputs: new Map(), exports: new Map() };
  account.stacks.set(stack.name, {
    source: { ...stack, template },
    status: "complete",
    ids,
    imports,
    ...nothing,
  });
  return true;
};
