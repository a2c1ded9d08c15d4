import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCommandIn } from "../steps/command.ts";

const outputs = (stage: string) => ({
  [`municipal-${stage}-integration-api`]: { BaseUrl: `https://${stage}.example/api` },
  [`municipal-${stage}-messaging-api`]: { BaseUrl: `https://messages.${stage}.example` },
});

/** Records how it was called, fails where it is told to, and writes what a deployment writes. */
const standIn = (program: string) => `#!${process.execPath}
const fs = require("node:fs");
const call = ["${program}", ...process.argv.slice(2)].join(" ");
fs.appendFileSync("calls", call + "\\n");
const file = process.argv[process.argv.indexOf("--outputs-file") + 1];
if (call.includes("--outputs-file")) fs.copyFileSync(file.replace("cdk.out/", "").replace(".outputs", ""), file);
process.exit(process.env.FAILS && call.startsWith(process.env.FAILS) ? 7 : 0);
`;

/** Runs the pipeline in a folder of its own, where npm and the CDK only record their calls. */
const startPipeline = async (args: readonly string[], fails = "", stages = ["dev", "prod"]) => {
  const folder = mkdtempSync(join(tmpdir(), "pipeline-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(`${folder}/bin`);
  for (const program of ["npm", "cdk"]) {
    writeFileSync(`${folder}/bin/${program}`, standIn(program));
    chmodSync(`${folder}/bin/${program}`, 0o755);
  }
  for (const stage of stages) {
    mkdirSync(`${folder}/cdk.out/${stage}`, { recursive: true });
    writeFileSync(`${folder}/cdk.out/${stage}/manifest.json`, "{}");
    writeFileSync(`${folder}/${stage}.json`, JSON.stringify(outputs(stage)));
  }
  const settings = { PATH: `${folder}/bin:${dirname(process.execPath)}`, FAILS: fails };
  const ended = await startCommandIn(folder, resolve("infra/commands/pipeline.ts"), settings, ...args).ended;
  const calls = existsSync(`${folder}/calls`)
    ? readFileSync(`${folder}/calls`, "utf8").trim().split("\n")
    : [];
  return { ...ended, calls };
};

const deployed = (stage: string) => [
  `npm run preflight -- --stage ${stage}`,
  `cdk diff --method template --app cdk.out/${stage}`,
  `cdk deploy --all --require-approval never --progress events --outputs-file cdk.out/${stage}.outputs.json --app cdk.out/${stage}`,
  `npm run smoke -- --base-url https://${stage}.example/api --messaging-base-url https://messages.${stage}.example`,
];
const all = ["npm test", "npm run release-check", "npm run synth", ...deployed("dev")];

test("dev is checked, synthesized, surveyed, compared, deployed and tried, in this order", async () => {
  const { status, calls, out } = await startPipeline(["--stage", "dev"]);
  expect([status, calls]).toEqual([0, all]);
  expect(out).toContain("Done: check, release-check, synth, preflight dev, diff dev, deploy dev, smoke dev.");
});

test("production is not deployed when nobody can approve it", async () => {
  const { status, calls, errors } = await startPipeline([]);
  expect([status, calls]).toEqual([1, [...all, ...deployed("prod").slice(0, 2)]]);
  expect(errors).toContain('The step "approve prod" failed: nobody can be asked without a terminal.');
  expect(errors).toContain("Not run: deploy prod, smoke prod.");
});

test("the steps that are named are the only ones, as in the job of a stage that was approved elsewhere", async () => {
  const { status, calls } = await startPipeline(["preflight", "deploy", "smoke", "--stage", "prod"]);
  const [preflight, , deploy, smoke] = deployed("prod");
  expect([status, calls]).toEqual([0, [preflight, deploy, smoke]]);
});

test("stages are deployed in the order in which they are given, each with an option of its own", async () => {
  const { status, calls } = await startPipeline(["diff", "--stage", "dev", "--stage", "prod"]);
  expect([status, calls]).toEqual([0, [deployed("dev")[1], deployed("prod")[1]]]);
});

test("a step may follow the stage", async () => {
  const { status, calls } = await startPipeline(["--stage", "dev", "diff"]);
  expect([status, calls]).toEqual([0, [deployed("dev")[1]]]);
});

test.each(all.map((call, index) => [call.split(" ").slice(0, 3).join(" "), index] as const))(
  "after %s has failed, nothing else runs, and the message says what to do",
  async (call, index) => {
    const { status, calls, errors } = await startPipeline(["--stage", "dev"], call);
    expect([status, calls]).toEqual([1, all.slice(0, index + 1)]);
    expect(errors).toMatch(/^The step "[\w -]+" failed: (npm|cdk) ended with 7\. [A-Z][^.]+\./);
    expect(errors.includes("Not run: ")).toBe(index < all.length - 1);
  },
);

test("a stage that was not synthesized, or has no addresses yet, is named with the step that is missing", async () => {
  const missing = await startPipeline(["deploy", "--stage", "dev"], "", []);
  expect([missing.status, missing.calls]).toEqual([1, []]);
  expect(missing.errors).toContain("cdk.out/dev is missing. Run the step synth first");
  const early = await startPipeline(["smoke", "--stage", "dev"]);
  expect([early.status, early.calls]).toEqual([1, []]);
  expect(early.errors).toContain("cdk.out/dev.outputs.json is missing. Run the step deploy first.");
});

test.each([
  ["a step that does not exist", ["deply", "--stage", "dev"], "There is no step deply"],
  [
    "a step in place of a stage",
    ["--stage", "diff"],
    "--stage needs the name of a stage, and diff is a step",
  ],
  ["a stage without an option", ["--stage", "dev", "prod"], "There is no step prod"],
  ["a step of a stage without the stage", ["deploy"], "--stage is missing"],
])("%s is invalid usage", async (_, args, message) => {
  const { status, calls, errors } = await startPipeline(args);
  expect([status, calls]).toEqual([2, []]);
  expect(errors).toContain(message);
});

test("with --json, only the steps that were done are on stdout", async () => {
  const { out } = await startPipeline(["check", "--json"]);
  expect(JSON.parse(out)).toEqual({ done: ["check"] });
});
