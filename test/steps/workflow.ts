import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

// the parser imports its schema as JSON without saying so, which Node refuses
registerHooks({
  resolve: (name, context, next) => ({
    ...next(name, context),
    ...(name.endsWith(".min.json") && { importAttributes: { type: "json" } }),
  }),
});
const { NoOperationTraceWriter, parseWorkflow } = await import("@actions/workflow-parser");
const { parseAction } = await import("@actions/workflow-parser/actions/action-parser");

export const workflowFile = ".github/workflows/deploy.yml";
export const prepareFile = ".github/actions/prepare/action.yml";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string;
  readonly environment?: string;
  readonly concurrency?: object;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions?: object;
  readonly jobs?: Readonly<Record<string, Job>>;
}

type Token = { type?: 1; seq: unknown[] } | { type: 2; map: { Key: string; Value: unknown }[] } | null;

/** A value as JSON has it, instead of the parser's lists and pairs. */
const simplify = (_: string, value: Token) => {
  if (value?.type === 1) return value.seq;
  return value?.type === 2 ? Object.fromEntries(value.map.map(({ Key, Value }) => [Key, Value])) : value;
};

/** The workflow by the parser of GitHub, which knows the schema and the expressions. */
export const readWorkflow = (content = readFileSync(workflowFile, "utf8")) => {
  const { context, value } = parseWorkflow({ name: workflowFile, content }, new NoOperationTraceWriter());
  const { permissions, jobs = {} }: Workflow = JSON.parse(JSON.stringify(value ?? {}), simplify);
  return {
    errors: context.errors.getErrors().map(({ message }) => message),
    permissions,
    jobs: Object.entries(jobs).map(([name, job]) => ({ name, ...job })),
  };
};

/** The steps by which a job is prepared. */
export const readPrepareSteps = (): readonly Step[] => {
  const file = { name: prepareFile, content: readFileSync(prepareFile, "utf8") };
  const { context, value } = parseAction(file, new NoOperationTraceWriter());
  const errors = context.errors.getErrors();
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join());
  return JSON.parse(JSON.stringify(value), simplify).runs.steps;
};
