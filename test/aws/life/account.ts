import { typeOf } from "./resource-types.ts";
import type { StackTemplate } from "./template.ts";

export type Properties = Readonly<Record<string, unknown>>;

/** A resource that exists. */
export interface Thing {
  /** Physical id, never used again, and recognizable in the properties of others. */
  readonly id: string;
  readonly type: string;
  readonly logicalId: string;
  readonly properties: Properties;
  /** The stack that made it. */
  readonly stack: string;
  /** Whether it still exists although its stack no longer has it. */
  readonly isOrphan: boolean;
  readonly isProtected: boolean;
}

/** A stack that exists. */
export interface LiveStack {
  /** What was deployed last. */
  readonly source: StackTemplate;
  readonly status: "complete" | "creation failed" | "deletion failed";
  /** Physical ids by logical ids. */
  readonly ids: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
  readonly exports: ReadonlyMap<string, string>;
  readonly imports: ReadonlySet<string>;
}

const read = (properties: Properties, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => (value as Properties | undefined)?.[key], properties);

/** What only one resource may have: its name, or its place in another resource. Undefined when the service makes a name. */
const nameOf = (type: string, properties: Properties): string | undefined => {
  const { unique } = typeOf(type);
  if (!unique?.[0] || read(properties, unique[0]) === undefined) return undefined;
  return JSON.stringify([type, ...unique.map((path) => read(properties, path) ?? null)]);
};

/** What is lost with a resource. An instance of a cluster holds nothing of its own. */
export const dataOf = ({ type, properties }: Thing): string | undefined =>
  type === "AWS::RDS::DBInstance" && properties.DBClusterIdentifier ? undefined : typeOf(type).data;

const includes = (value: unknown, id: string): boolean =>
  value !== undefined && JSON.stringify(value).includes(id);

/** The resources of one account and region, and the stacks that made them. */
export class Account {
  readonly things: Map<string, Thing>;
  readonly stacks: Map<string, LiveStack>;
  readonly #names: Map<string, string>;
  #made: number;

  constructor(other?: Account) {
    this.things = new Map(other?.things);
    this.stacks = new Map(other?.stacks);
    this.#names = new Map(other ? other.#names : []);
    this.#made = other ? other.#made : 0;
  }

  copy(): Account {
    return new Account(this);
  }

  /** Goes back to an earlier state; ids stay unique. */
  restore(other: Account): void {
    const copy = (from: ReadonlyMap<string, unknown>, to: Map<string, unknown>) => {
      to.clear();
      for (const [key, value] of from) to.set(key, value);
    };
    copy(other.things, this.things);
    copy(other.stacks, this.stacks);
    copy(other.#names, this.#names);
  }

  findNamed(type: string, properties: Properties): Thing | undefined {
    const name = nameOf(type, properties);
    return name === undefined ? undefined : this.things.get(this.#names.get(name) ?? "");
  }

  create(thing: Omit<Thing, "id" | "isOrphan" | "isProtected">): Thing {
    this.#made += 1;
    const isProtected = thing.properties.DeletionProtection === true;
    const made = { ...thing, id: `<${thing.logicalId} ${this.#made}>`, isOrphan: false, isProtected };
    this.put(made);
    return made;
  }

  /** Adds a thing, or changes one. */
  put(thing: Thing): void {
    this.things.set(thing.id, thing);
    const name = nameOf(thing.type, thing.properties);
    if (name !== undefined) this.#names.set(name, thing.id);
  }

  delete({ id, type, properties }: Thing): void {
    this.things.delete(id);
    const name = nameOf(type, properties);
    if (name !== undefined && this.#names.get(name) === id) this.#names.delete(name);
  }

  /** Why the service rejects the deletion of a resource; undefined when it does not. */
  findUse(thing: Thing): string | undefined {
    // "You can't delete a DB cluster when deletion protection is enabled" (API_DeleteDBCluster, API_DeleteDBInstance)
    if (thing.isProtected) return "is protected from deletion";
    const uses = typeOf(thing.type).usedBy ?? [];
    if (uses.length === 0) return undefined;
    for (const other of this.things.values()) {
      const type = other.type.replace(/^AWS::/, "");
      for (const use of uses) {
        const [user, property = ""] = use.split(".");
        if (user !== type || other.id === thing.id || !includes(other.properties[property], thing.id))
          continue;
        // a rule goes with its own group
        if (includes(other.properties.GroupId, thing.id)) continue;
        return `is in use by ${other.logicalId}`;
      }
    }
    return thing.type === "AWS::EC2::Subnet" ? this.#findServer(thing) : undefined;
  }

  /** A server has network interfaces in the subnets of its group ("Working with a DB instance in a VPC"). */
  #findServer({ id }: Thing): string | undefined {
    for (const group of this.things.values()) {
      if (group.type !== "AWS::RDS::DBSubnetGroup" || !includes(group.properties.SubnetIds, id)) continue;
      const used = this.findUse(group);
      if (used) return used;
    }
    return undefined;
  }

  /** Counts what belongs to stacks. */
  countOwned(): number {
    return [...this.things.values()].filter(({ isOrphan }) => !isOrphan).length;
  }

  /** Names the importers of an export. */
  listImporters(name: string): string[] {
    return [...this.stacks.values()].flatMap((stack) => (stack.imports.has(name) ? [stack.source.name] : []));
  }
}
