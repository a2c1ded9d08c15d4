import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type LambdaOptions, startLambda } from "../../infra/local/lambda/lambda.ts";

const open = (source: string, options: Partial<LambdaOptions> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "lambda-"));
  mkdirSync(folder, { recursive: true });
  const write = (code: string) => writeFileSync(`${folder}/index.mjs`, code);
  write(source);
  const lines: string[] = [];
  const variables = { GREETING: "halo" };
  const lambda = startLambda({
    name: "test",
    folder,
    variables,
    timeoutSeconds: 5,
    onLine: (line) => lines.push(line),
    ...options,
  });
  onTestFinished(async () => {
    await lambda.stop();
    rmSync(folder, { recursive: true });
  });
  return { lambda, lines, write };
};

test("gives a function its event, its context and only its own environment", async () => {
  const { lambda } = open(`export const handler = async (event, context) =>
    ({ event, id: context.awsRequestId, left: context.getRemainingTimeInMillis() > 0, env: process.env })`);
  const outcome = await lambda.invoke({ a: 1 }, "id-1");
  expect(outcome).toHaveProperty("payload");
  const { env, ...rest } = JSON.parse("payload" in outcome ? outcome.payload : "{}");
  expect(rest).toEqual({ event: { a: 1 }, id: "id-1", left: true });
  expect(env).toEqual({ GREETING: "halo" });
});

test("keeps the state of an environment between calls, and uses two for concurrent calls", async () => {
  const { lambda } = open(`let calls = 0; export const handler = async (wait) => {
    calls += 1; if (wait) await new Promise((resolve) => setTimeout(resolve, 300)); return calls; }`);
  const first = await lambda.invoke(false, "1");
  const together = await Promise.all([lambda.invoke(true, "2"), lambda.invoke(true, "3")]);
  expect([first, ...together]).toEqual([{ payload: "1" }, { payload: "2" }, { payload: "1" }]);
});

test("rejects a call beyond its reserved concurrency, and no call after one has ended", async () => {
  const { lambda } = open(`export const handler = async () => "ok"`, { reserved: 1 });
  const together = await Promise.all([lambda.invoke({}, "1"), lambda.invoke({}, "2")]);
  expect(together).toEqual([
    { payload: '"ok"' },
    { errorMessage: "Rate Exceeded.", errorType: "TooManyRequestsException" },
  ]);
  expect(await lambda.invoke({}, "3")).toEqual({ payload: '"ok"' });
});

test("reports an error by message and type", async () => {
  const { lambda } = open(`export const handler = async () => { throw new TypeError("Unauthorized"); }`);
  expect(await lambda.invoke({}, "1")).toEqual({ errorMessage: "Unauthorized", errorType: "TypeError" });
});

test("ends a hanging function at its timeout, and starts a new one for the next call", async () => {
  const { lambda } = open(`export const handler = async (hang) => { while (hang); return "ok"; }`, {
    timeoutSeconds: 1,
  });
  expect(await lambda.invoke(true, "1")).toMatchObject({ errorType: "Sandbox.Timedout" });
  expect(await lambda.invoke(false, "2")).toEqual({ payload: '"ok"' });
});

test("survives a process that exits, an unhandled rejection and a module that does not load", async () => {
  const { lambda } = open(`export const handler = async (how) => {
    if (how === "exit") process.exit(1);
    if (how === "reject") { Promise.reject(new Error("late")); await new Promise(() => {}); }
    return "ok"; }`);
  expect(await lambda.invoke("exit", "1")).toMatchObject({ errorType: "Runtime.ExitError" });
  expect(await lambda.invoke("reject", "2")).toMatchObject({ errorType: "Runtime.UnhandledError" });
  expect(await lambda.invoke("", "3")).toEqual({ payload: '"ok"' });
  expect(await open(`throw new Error("broken")`).lambda.invoke({}, "4")).toMatchObject({
    errorMessage: "broken",
  });
});

test("starts from the new bundle after a reload", async () => {
  const { lambda, write } = open(`export const handler = async () => 1`);
  expect(await lambda.invoke({}, "1")).toEqual({ payload: "1" });
  write(`export const handler = async () => 2`);
  lambda.reload();
  expect(await lambda.invoke({}, "2")).toEqual({ payload: "2" });
});

test("logs why a function failed, crashed or did not load, with the request's id", async () => {
  const failing = open(`export const handler = async () => { throw new Error("boom in handler"); }`);
  await failing.lambda.invoke({}, "id-1");
  expect(JSON.parse(failing.lines[0] ?? "{}")).toMatchObject({
    level: "error",
    fn: "test",
    request_id: "id-1",
    errorMessage: "boom in handler",
  });
  const broken = open(`throw new Error("boom at load")`);
  await broken.lambda.invoke({}, "id-2");
  expect(broken.lines.join()).toContain("boom at load");
  const idle = open(
    `export const handler = async () => { setTimeout(() => { throw new Error("boom later"); }, 20); }`,
  );
  await idle.lambda.invoke({}, "id-3");
  await expect.poll(() => idle.lines.join()).toContain("boom later");
  expect(await idle.lambda.invoke({}, "id-4")).toEqual({ payload: "null" });
});

test("does not log a rejection by an authorizer as a failure", async () => {
  const { lambda, lines } = open(`export const handler = async () => { throw new Error("Unauthorized"); }`);
  await lambda.invoke({}, "1");
  expect(lines).toEqual([]);
});

test("loads a slow module before the time of the invocation starts", async () => {
  const { lambda } = open(
    `await new Promise((resolve) => setTimeout(resolve, 100));
     const loadedAt = Date.now();
     export const handler = async (event, context) =>
       Date.now() + context.getRemainingTimeInMillis() - loadedAt >= 5_000;`,
  );
  expect(await lambda.invoke({}, "1")).toEqual({ payload: "true" });
});

test("forwards the output of the function line by line", async () => {
  const { lambda, lines } = open(
    `export const handler = async () => { process.stdout.write("one\\ntwo\\n"); }`,
  );
  await lambda.invoke({}, "1");
  await expect.poll(() => lines).toEqual(["one", "two"]);
});

test("bundles that do not load hold up no other function for longer than Lambda lets them", async () => {
  const hanging = open("await new Promise(() => setInterval(() => {}, 1_000));", {
    loadTimeoutMs: 100,
  }).lambda;
  const stuck = Promise.all(
    Array.from({ length: availableParallelism() }, (_, id) => hanging.invoke({}, `${id}`)),
  );
  const { lambda } = open(`export const handler = async () => "ok"`);
  expect(await lambda.invoke({}, "other")).toEqual({ payload: '"ok"' });
  await hanging.stop();
  expect((await stuck).every((outcome) => "errorMessage" in outcome)).toBe(true);
});
