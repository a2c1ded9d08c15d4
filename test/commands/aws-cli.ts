import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

interface Letter {
  readonly id: string;
  readonly body: unknown;
}

/** What the played AWS holds, as JSON in a file beside it. */
interface State {
  letters: { id: string; body: string; hidden: boolean }[];
  /** What the function was called with, and the whole command line of each call. */
  invoked: string[];
  commands: string[];
}

/**
 * The AWS CLI, as the operator's commands see it: a queue, and a function that fails for a body that says so. It
 * keeps its arguments, as any user of a machine could read them.
 */
const program = `#!${process.execPath}
const { readFileSync, writeFileSync } = require("node:fs");
const file = __dirname + "/state.json";
const state = JSON.parse(readFileSync(file, "utf8"));
const [service, verb, ...args] = process.argv.slice(2);
const option = (name) => args[args.indexOf("--" + name) + 1];
const answers = {
  "describe-stacks": () => {
    if (option("stack-name") !== "municipal-test-jobs") return fail("Stack does not exist");
    const outputs = { DeadLetterQueue: "https://queue.example/dead", NotifyFunction: "notify-function" };
    const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
    return { Stacks: [{ Outputs }] };
  },
  "receive-message": () => {
    const next = state.letters.find(({ hidden }) => !hidden);
    if (!next) return undefined;
    next.hidden = true;
    const Attributes = { SentTimestamp: "1750000000000" };
    return { Messages: [{ MessageId: next.id, ReceiptHandle: "handle-" + next.id, Body: next.body, Attributes }] };
  },
  "delete-message": () => {
    state.letters = state.letters.filter(({ id }) => "handle-" + id !== option("receipt-handle"));
  },
  "change-message-visibility": () => {
    state.letters.find(({ id }) => "handle-" + id === option("receipt-handle")).hidden = false;
  },
  invoke: () => {
    const body = readFileSync(0, "utf8");
    state.invoked.push(body);
    return { StatusCode: 200, ...(body.includes("fails") && { FunctionError: "Unhandled" }) };
  },
};
const fail = (message) => {
  process.stderr.write(message);
  process.exitCode = 254;
};
state.commands.push(process.argv.slice(2).join(" "));
const answer = answers[verb]();
writeFileSync(file, JSON.stringify(state));
if (answer) process.stdout.write(JSON.stringify(answer));
`;

/** Plays the AWS CLI until the test ends. @returns the PATH that finds it, and what it holds and was told. */
export const playAwsCli = (letters: readonly Letter[]) => {
  const folder = mkdtempSync(join(tmpdir(), "aws-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "state.json");
  const state: State = {
    letters: letters.map(({ id, body }) => ({ id, body: JSON.stringify(body), hidden: false })),
    invoked: [],
    commands: [],
  };
  writeFileSync(file, JSON.stringify(state));
  writeFileSync(join(folder, "aws"), program);
  chmodSync(join(folder, "aws"), 0o755);
  return { path: folder, read: (): State => JSON.parse(readFileSync(file, "utf8")) };
};
