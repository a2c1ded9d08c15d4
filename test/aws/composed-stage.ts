import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { examples, readConfig } from "../../infra/aws/config.ts";
import { composeStage } from "../../infra/aws/stage.ts";
import type { StackTemplate } from "./life/template.ts";

const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));

/** What CloudFormation is given of one resource. */
export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
}

type Changes = Readonly<Record<string, unknown>>;

/** Production with backups outside, on a database of that kind that was restored. */
export const restoredStage = (database: unknown) => ({
  stage: "prod",
  database: { ...(database as object), restoreFrom: "municipal-prod-before" },
  backupVaultArn: examples.backupVaultArn[0],
});

const compose = (changed: Changes, isValidated: boolean) => {
  const app = new App({
    // the bundles are read where they are, not copied for each test
    context: {
      ...context,
      // a stage with a domain must say
      production: changed.stage === "prod",
      ...changed,
      "aws:cdk:disable-asset-staging": true,
    },
    outdir: mkdtempSync(join(tmpdir(), "cdk.out-")),
    // nobody reads these here, and they take a fifth of the time
    stackTraces: false,
    treeMetadata: false,
    builtinCloudFormationValidation: isValidated,
  });
  const config = readConfig(app.node, context);
  return { app, config, ...composeStage(app, config) };
};

const composed = new Map<string, ReturnType<typeof compose>>();

/**
 * The stacks of a stage, from the context of `cdk.json` and what a test puts in its place. They are shared by the
 * tests of a process, since no test changes them.
 */
export const composeWith = (changed: Changes = {}) => {
  const key = JSON.stringify(changed);
  const stage = composed.get(key) ?? compose(changed, false);
  composed.set(key, stage);
  return stage;
};

/** The stacks as the CDK deploys them, in this order. Nothing else of the stage stays in memory. */
export const listStacks = (changed: Changes): readonly StackTemplate[] =>
  compose(changed, false)
    .app.synth()
    .stacks.map(({ stackName, terminationProtection, dependencies, template }) => ({
      name: stackName,
      dependencies: dependencies.map(({ id }) => id),
      isProtected: terminationProtection ?? false,
      template,
    }));

/**
 * Checks a stage's templates by the schemas of CloudFormation.
 *
 * @throws Error when they do not fit; what is wrong is printed.
 */
export const validateWith = (changed: Changes) => compose(changed, true).app.synth();

/** The resources of a stage's stacks, by logical id, as CloudFormation is given them. */
export const synthesizeWith = (changed?: Changes) => {
  const stage = composeWith(changed);
  const assembly = stage.app.synth();
  const resourcesOf = (stackName: string): Readonly<Record<string, Resource>> =>
    assembly.getStackByName(stackName).template.Resources;
  const all = assembly.stacks.flatMap(({ stackName }) => Object.entries(resourcesOf(stackName)));
  return {
    ...stage,
    assembly,
    resourcesOf,
    /** Of all stacks, those of a type such as `Lambda::Function`, with their logical ids. */
    list: (type: string) => all.filter(([, { Type }]) => Type === `AWS::${type}`),
    all,
  };
};
