import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { steadyNow } from "#lib/deadline.ts";
import { messengerPort } from "../aws/stage-names.ts";
import { runAws } from "./aws-cli.ts";
import { CommandError, readWhole } from "./command.ts";
import { findStage, noun, requireDev } from "./stage.ts";

/** Until a forwarded port answers: the session has to be set up. */
const maxWaitMs = 30_000;
const pollMs = 250;

interface Task {
  /** `ecs:CLUSTER_TASK_RUNTIME`. */
  readonly target: string;
  readonly id: string;
}

const lastOf = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1);

/** Lists the running tasks of a stage's messenger. */
const listTasks = async (stage: string): Promise<Task[]> => {
  const { StackResources: resources } = (await runAws(
    ...["cloudformation", "describe-stack-resources", "--stack-name", `municipal-${stage}-messaging`],
  )) as { StackResources: readonly { ResourceType: string; PhysicalResourceId: string }[] };
  const found = resources.find(({ ResourceType: type }) => type === "AWS::ECS::Cluster");
  const cluster = found && lastOf(found.PhysicalResourceId);
  if (!cluster) throw new CommandError(`The stage ${stage} has no messenger.`);
  const { taskArns } = (await runAws("ecs", "list-tasks", "--cluster", cluster)) as { taskArns: string[] };
  if (taskArns.length === 0)
    throw new CommandError(
      `No task of the messenger of ${stage} runs: see "Messenger silent" in the runbook, /docs/runbook.`,
    );
  const { tasks } = (await runAws("ecs", "describe-tasks", "--cluster", cluster, "--tasks", ...taskArns)) as {
    tasks: readonly { taskArn: string; containers: readonly { name: string; runtimeId?: string }[] }[];
  };
  return tasks.flatMap(({ taskArn, containers }) => {
    const id = lastOf(taskArn);
    const { runtimeId } = containers.find(({ name }) => name === "messenger") ?? {};
    return runtimeId ? [{ id, target: `ecs:${cluster}_${id}_${runtimeId}` }] : [];
  });
};

/** A port of this machine that leads to a task. */
interface Session {
  /** Whether the task leads; undefined if it does not answer. */
  readonly leads: boolean | undefined;
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<unknown>;
  readonly end: () => Promise<void>;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** The plugin that does the work is a process of its own. */
const endGroup = async (child: ChildProcess, exited: Promise<unknown>): Promise<void> => {
  if (child.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, "SIGTERM");
  await exited;
};

/** @throws CommandError with what the AWS CLI says, if the session ends before the console answers. */
const forward = async ({ target }: Task, port: number): Promise<Session> => {
  const parameters = `portNumber=${messengerPort},localPortNumber=${port}`;
  const document = "AWS-StartPortForwardingSession";
  const child = spawn(
    "aws",
    ["ssm", "start-session", "--target", target, "--document-name", document, "--parameters", parameters],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  const said = text(child.stderr);
  const exited = once(child, "exit").catch(() => {});
  const end = () => endGroup(child, exited);
  const until = steadyNow() + maxWaitMs;
  while (steadyNow() < until) {
    if (hasEnded(child))
      throw new CommandError(
        `The port cannot be forwarded: ${(await said).trim() || "the AWS CLI has ended"}. It needs the Session Manager plugin: see /docs/runbook#before-you-begin.`,
      );
    const health = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    if (health?.ok) {
      const { leader } = (await health.json()) as { leader?: boolean };
      return { leads: leader === true, ended: exited, end };
    }
    await setTimeout(pollMs);
  }
  return { leads: undefined, ended: exited, end };
};

/** Forwards the port to the task that leads, or, if none does, to the last that answers. */
const forwardToLeader = async (tasks: readonly Task[], port: number) => {
  for (const [index, task] of tasks.entries()) {
    const session = await forward(task, port);
    if (session.leads || (session.leads === false && index === tasks.length - 1)) return { ...session, task };
    await session.end();
  }
  throw new CommandError("No task of the messenger answers: see /docs/runbook#messenger-silent.");
};

const browsers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens the page, if this machine has a browser. */
const openBrowser = (url: string): void => {
  const [program, ...args] = browsers[process.platform] ?? ["xdg-open"];
  spawn(program, [...args, url], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
};

export const run = noun(
  "console",
  "The operators' console: whether messages go out, what is wrong and what to do.",
  (program, answer) => {
    program
      .command("open")
      .description("opens it in the browser; of a stage, forwards a port to the task that leads until Ctrl-C")
      .option("--port <number>", "the port of this machine", readWhole("--port", 1, 65_535), messengerPort)
      .option("--no-browser", "print its address alone")
      .action(
        answer(async ({ port, browser }) => {
          const stage = findStage();
          if (stage === undefined) {
            const { consoleUrl } = requireDev();
            if (browser) openBrowser(consoleUrl);
            return { text: consoleUrl, json: { url: consoleUrl } };
          }
          const { task, leads, ended, end } = await forwardToLeader(await listTasks(stage), port);
          const url = `http://localhost:${port}/console`;
          if (browser) openBrowser(url);
          const afterwards = async () => {
            await Promise.race([ended, once(process, "SIGINT")]);
            await end();
            return [];
          };
          return {
            text: `${url} is the console of ${stage} (task ${task.id}, ${leads ? "which leads" : "none leads"}). Ctrl-C ends it.`,
            json: { url, task: task.id, leads },
            afterwards,
          };
        }),
      );
  },
);
