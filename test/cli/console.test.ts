import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCommand } from "../steps/command.ts";

/*
 * The AWS CLI of an account with a stage whose second task leads. A session forwards its port until it is ended: the plugin of the
 * real one is a child of the AWS CLI, too.
 * https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-sessions-start.html
 */
const awsCli = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const { createServer } = require("node:http");
const args = process.argv.slice(2);
appendFileSync(process.env.CALLS, args.join(" ") + "\\n");
const print = (value) => console.log(JSON.stringify(value));
const task = (name) => ({
  taskArn: "arn:aws:ecs:ap-southeast-3:111122223333:task/city/" + name,
  containers: [{ name: "guard", runtimeId: name + "-0" }, { name: "messenger", runtimeId: name + "-1" }],
});
const names = process.env.TASKS.split(" ").filter(Boolean);
const answers = {
  "cloudformation describe-stack-resources": () => print({ StackResources: [
    { ResourceType: "AWS::ECS::Service", PhysicalResourceId: "arn:x/service" },
    { ResourceType: "AWS::ECS::Cluster", PhysicalResourceId: "city" }] }),
  "ecs list-tasks": () => print({ taskArns: names.map((name) => task(name).taskArn) }),
  "ecs describe-tasks": () => print({ tasks: names.map(task) }),
  "ssm start-session": () => {
    const target = args[args.indexOf("--target") + 1];
    if (target.includes("broken")) {
      console.error("SessionManagerPlugin is not found. Please refer to SessionManager Documentation");
      process.exit(255);
    }
    const port = Number(/localPortNumber=(\\d+)/.exec(args.at(-1))[1]);
    createServer((_, response) => response.end(JSON.stringify({ leader: target.includes("leader") }))).listen(port, "127.0.0.1");
  },
};
answers[args.slice(0, 2).join(" ")]();
`;

const findPort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
};

const open = async (tasks: string) => {
  const folder = mkdtempSync(join(tmpdir(), "aws-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "aws"), awsCli);
  chmodSync(join(folder, "aws"), 0o755);
  const port = await findPort();
  const calls = join(folder, "calls");
  const settings = {
    PATH: [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
    ...{ CALLS: calls, TASKS: tasks },
  };
  const args = ["open", "--stage", "prod", "--port", String(port), "--no-browser"];
  const { child, ended } = startCommand("console", settings, ...args);
  return { child, ended, port, readCalls: () => readFileSync(calls, "utf8") };
};

test("the console of a stage is opened at the task that leads, until the operator ends it", async () => {
  const { child, ended, port, readCalls } = await open("standby leader");
  const said = String(await once(child.stdout, "data"));
  expect(said).toContain(
    `http://localhost:${port}/console is the console of prod (task leader, which leads).`,
  );
  expect((await fetch(`http://127.0.0.1:${port}/health`)).ok).toBe(true);
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ status: 0, errors: "" });
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  const targets = [...readCalls().matchAll(/--target (\S+)/g)].map(([, target]) => target);
  expect(targets).toEqual(["ecs:city_standby_standby-1", "ecs:city_leader_leader-1"]);
});

test.each([
  ["", "No task of the messenger of prod runs"],
  ["broken", "The port cannot be forwarded: SessionManagerPlugin is not found"],
])("of tasks '%s' the operator is told why it cannot be opened", async (tasks, said) => {
  const { ended } = await open(tasks);
  expect(await ended).toMatchObject({ status: 1, out: "", errors: expect.stringContaining(said) });
});
