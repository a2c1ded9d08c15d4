import { Account } from "./account.ts";
import type { Finding, Report } from "./finding.ts";
import { change, remove, takeOver } from "./stack.ts";
import { planOf, type StackTemplate } from "./template.ts";

/** The stacks of a stage, each after those that it depends on. */
export type Stage = readonly StackTemplate[];

interface Deployment {
  readonly account: Account;
  readonly report: Report;
  readonly isImporting?: boolean;
}

/** Deploys one stack as the CDK does: it skips what is unchanged, and deletes a stack whose creation failed. */
const deployStack = (deployment: Deployment, stack: StackTemplate, failsAt?: string) => {
  const { account, report } = deployment;
  const live = account.stacks.get(stack.name);
  const operation = { ...deployment, stack, failsAt };
  if (live?.status === "deletion failed") {
    report(stack.name, "refused: a stack whose deletion failed cannot be updated");
    return undefined;
  }
  if (live?.status === "creation failed" && !remove(operation)) {
    report(stack.name, "refused: the stack that failed cannot be deleted");
    return undefined;
  }
  if (live?.status === "complete" && planOf(live.source).text === planOf(stack).text) {
    account.stacks.set(stack.name, { ...live, source: stack });
    return [];
  }
  return change(operation);
};

/** Reports references to what no longer exists: a weak reference is read only when its own stack is updated. */
const reportStale = ({ account, report }: Deployment): void => {
  for (const { stack, logicalId, properties, isOrphan } of account.things.values()) {
    if (isOrphan) continue;
    for (const [id] of JSON.stringify(properties).matchAll(/<\w+ \d+>/g))
      if (!account.things.has(id)) {
        report(`${stack}/${logicalId}`, `stale: it refers to ${id.split(" ")[0]?.slice(1)}, which is gone`);
        break;
      }
  }
};

/** The other extreme of the orders that the dependencies allow: an app does not say in which one they are deployed. */
const lastFirst = (stage: Stage): Stage => {
  const names = new Set(stage.map(({ name }) => name));
  const left = [...stage];
  const order: StackTemplate[] = [];
  while (left.length > 0) {
    const isReady = ({ dependencies }: StackTemplate) =>
      dependencies.every((name) => !names.has(name) || order.some((earlier) => earlier.name === name));
    const [next] = left.splice(left.findLastIndex(isReady), 1);
    if (next) order.push(next);
  }
  return order;
};

/** `cdk deploy --all`. Returns whether it reached the end. */
const deploy = (deployment: Deployment, stage: Stage): boolean => {
  const isDone = stage.every((stack) => deployStack(deployment, stack) !== undefined);
  if (isDone) reportStale(deployment);
  return isDone;
};

/** `cdk destroy --all`, which stops at the first stack that cannot be deleted. */
const destroy = (deployment: Deployment, stage: Stage): boolean =>
  stage.toReversed().every((stack) => remove({ ...deployment, stack }));

/** Lives through the life of a stage, and collects what would be refused, orphaned or lost. */
export class LifeCycle {
  readonly #name: string;
  readonly #getStage: (configuration: string) => Stage;
  readonly #isImporting: boolean;
  /** Of each configuration: the account before each stack of its first deployment, and after the last. */
  readonly #created = new Map<string, readonly Account[]>();
  #findings: Finding[] = [];

  /** @param isImporting whether what is deployed again takes over retained resources by their names. */
  constructor(name: string, getStage: (configuration: string) => Stage, isImporting = false) {
    this.#name = name;
    this.#getStage = getStage;
    this.#isImporting = isImporting;
  }

  /** Returns the findings since the last call. */
  take(): readonly Finding[] {
    const findings = this.#findings;
    this.#findings = [];
    return findings;
  }

  #at(configuration: string, step: string, account: Account): Deployment {
    const name = `${this.#name}: ${configuration}`;
    const report: Report = (resource, what) => {
      this.#findings.push({ configuration: name, step, resource, what });
    };
    return { account, report };
  }

  #create(configuration: string): readonly Account[] {
    const known = this.#created.get(configuration);
    if (known) return known;
    const account = new Account();
    const deployment = this.#at(configuration, "create", account);
    const states = [account.copy()];
    for (const stack of this.#getStage(configuration)) {
      if (!deployStack(deployment, stack)) break;
      states.push(account.copy());
    }
    reportStale(deployment);
    this.#created.set(configuration, states);
    return states;
  }

  /** The first deployment, once for each resource that fails in it, and then again. */
  failAndRetry(configuration: string): void {
    const states = this.#create(configuration);
    for (const [index, stack] of this.#getStage(configuration).entries()) {
      const [before, after] = [states[index], states[index + 1]];
      if (!before || !after) return;
      for (const id of planOf(stack).order) {
        const account = before.copy();
        deployStack(this.#at(configuration, `create, ${id} fails`, account), stack, id);
        const retry = this.#at(configuration, `retry after ${id} failed`, account);
        if (deployStack(retry, stack) && account.countOwned() !== after.countOwned())
          retry.report(
            stack.name,
            `refused: the retry has ${account.countOwned() - after.countOwned()} resources more than without a failure`,
          );
      }
    }
  }

  /**
   * Destroys a stage, and creates it again.
   *
   * @param kept stacks that are not destroyed. @param imported those whose retained resources are then taken over.
   */
  destroyAndCreate(
    configuration: string,
    kept: readonly string[] = [],
    imported: readonly string[] = [],
  ): void {
    const account = this.#create(configuration).at(-1)?.copy() ?? new Account();
    const stage = this.#getStage(configuration);
    const isOf = (names: readonly string[]) => (stack: StackTemplate) =>
      names.some((name) => stack.name.endsWith(`-${name}`));
    const destroyed = stage.filter((stack) => !isOf(kept)(stack));
    destroy(this.#at(configuration, "destroy", account), destroyed);
    const again = { ...this.#at(configuration, "create again", account), isImporting: this.#isImporting };
    for (const stack of stage.filter(isOf(imported))) takeOver({ ...again, stack });
    deploy(again, stage);
  }

  /** Deploys another configuration of a stage. Returns whether that was possible. */
  change(from: string, to: string): boolean {
    const account = this.#create(from).at(-1)?.copy() ?? new Account();
    return deploy(this.#at(from, `change to ${to}`, account), this.#getStage(to));
  }

  /** Deploys another configuration of a stage, and the first one again, in each order. */
  changeAndBack(from: string, to: string): void {
    for (const inOrder of [(stage: Stage) => stage, lastFirst]) {
      const account = this.#create(from).at(-1)?.copy() ?? new Account();
      if (!deploy(this.#at(from, `change to ${to}`, account), inOrder(this.#getStage(to)))) continue;
      const back = this.#at(from, `change to ${to} and back`, account);
      deploy({ ...back, isImporting: this.#isImporting }, inOrder(this.#getStage(from)));
    }
  }

  /** Deploys another configuration, which a resource of this type rejects, and the first one again. */
  changeInVain(from: string, to: string, type: string): void {
    const account = this.#create(from).at(-1)?.copy() ?? new Account();
    const before = account.countOwned();
    const attempt = this.#at(from, `change to ${to} in vain`, account);
    for (const stack of this.#getStage(to)) {
      const { Resources } = stack.template;
      const rejecting = Object.keys(Resources).find((id) => Resources[id]?.Type === type);
      if (!deployStack(attempt, stack, rejecting)) break;
    }
    const back = this.#at(from, `back from ${to}`, account);
    deploy(back, this.#getStage(from));
    if (account.countOwned() !== before) back.report("stage", "refused: it has other resources than before");
  }

  /** The change to another configuration, once for each resource that fails in it, and then again. */
  failInChange(from: string, to: string): void {
    const account = this.#create(from).at(-1)?.copy() ?? new Account();
    for (const stack of this.#getStage(to)) {
      const before = account.copy();
      const changed = deployStack(this.#at(from, `change to ${to}`, account), stack);
      for (const id of changed ?? []) {
        const copy = before.copy();
        deployStack(this.#at(from, `change to ${to}, ${id} fails`, copy), stack, id);
        const retry = this.#at(from, `change to ${to}, retry after ${id} failed`, copy);
        if (deployStack(retry, stack) && copy.countOwned() !== account.countOwned())
          retry.report(
            stack.name,
            `refused: the retry has ${copy.countOwned() - account.countOwned()} resources more than without a failure`,
          );
      }
      if (!changed) return;
    }
  }
}
