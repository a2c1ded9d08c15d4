import { listReferences } from "./values.ts";

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

interface Output {
  readonly Value: unknown;
  readonly Export?: { readonly Name: string };
}

/** A stack as the CDK deploys it. */
export interface StackTemplate {
  readonly name: string;
  readonly isProtected: boolean;
  /** Names of the stacks that are deployed before. */
  readonly dependencies: readonly string[];
  readonly template: {
    readonly Resources: Readonly<Record<string, Resource>>;
    readonly Outputs?: Readonly<Record<string, Output>>;
  };
}

/** What is known of a template before it is deployed. */
export interface Plan {
  readonly text: string;
  /** Logical ids, each after those that it depends on. */
  readonly order: readonly string[];
  readonly dependencies: ReadonlyMap<string, ReadonlySet<string>>;
  readonly imports: ReadonlySet<string>;
}

const makePlan = ({ template }: StackTemplate): Plan => {
  const text = JSON.stringify(template);
  const ids = Object.keys(template.Resources);
  const dependencies = new Map(
    Object.entries(template.Resources).map(([id, { Properties, DependsOn = [] }]) => {
      const all = [...listReferences(Properties), ...[DependsOn].flat()];
      return [id, new Set(all.filter((other) => other in template.Resources))] as const;
    }),
  );
  const order: string[] = [];
  const seen = new Set<string>();
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const other of dependencies.get(id) ?? []) visit(other);
    order.push(id);
  };
  for (const id of ids) visit(id);
  const imports = new Set([...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = ""]) => name));
  return { text, order, dependencies, imports };
};

const plans = new WeakMap<StackTemplate, Plan>();

export const planOf = (stack: StackTemplate): Plan => {
  const plan = plans.get(stack) ?? makePlan(stack);
  plans.set(stack, plan);
  return plan;
};

/** The resources that wait for one, itself included: they do not exist when it fails. */
export const listWaiting = (stack: StackTemplate, id: string): ReadonlySet<string> => {
  const { order, dependencies } = planOf(stack);
  const waiting = new Set([id]);
  for (const next of order)
    if ([...(dependencies.get(next) ?? [])].some((other) => waiting.has(other))) waiting.add(next);
  return waiting;
};
