import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { prepareFile, readPrepareSteps, readWorkflow, workflowFile } from "../steps/workflow.ts";

const workflow = readWorkflow();
const { jobs } = workflow;
const texts = [workflowFile, prepareFile].map((file) => readFileSync(file, "utf8")).join("\n");

test("GitHub's own parser finds nothing wrong with the workflow, but finds a key that is misspelt", () => {
  expect(workflow.errors).toEqual([]);
  const misspelt = readFileSync(workflowFile, "utf8").replace("timeout-minutes", "timeout-minute");
  expect(readWorkflow(misspelt).errors.join()).toContain("timeout-minute");
});

test("a job that logs in to AWS may get a token and read the code; no other permission is given", () => {
  expect(workflow.permissions).toEqual({});
  for (const { environment, permissions } of jobs)
    expect(permissions).toEqual({ contents: "read", ...(environment && { "id-token": "write" }) });
});

test("each action of others is named by its commit, with the version as a comment", () => {
  const used = [...texts.matchAll(/uses: (\S+)(.*)/g)].filter(([, name = ""]) => !name.startsWith("./"));
  expect(used.length).toBeGreaterThan(5);
  for (const [, name, comment] of used) {
    expect(name).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40}$/);
    expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/);
  }
});

test("production is deployed after dev, behind the difference and the approval of its environment", () =>
  expect(jobs.map(({ name, needs, environment }) => [name, needs, environment])).toEqual([
    ["check", undefined, undefined],
    ["dev", "check", "dev"],
    ["review", "dev", "prod-review"],
    ["prod", "review", "prod"],
  ]));

test("the review shows the difference, and changes nothing", () => {
  const lines = jobs.find(({ name }) => name === "review")?.steps.flatMap(({ run }) => run ?? []) ?? [];
  expect(lines.join("\n")).toMatch(/cdk diff .*--app cdk\.out\/prod[\s\S]*GITHUB_STEP_SUMMARY/);
  expect(lines.join("\n")).not.toContain("deploy");
});

test("what is deployed was synthesized once, for all stages", () => {
  expect(texts.match(/\bsynth\b/g)).toHaveLength(1);
  expect(texts.match(/actions\/upload-artifact@/g)).toHaveLength(1);
  for (const { steps, environment } of jobs)
    expect(steps.filter(({ uses }) => uses === "./.github/actions/prepare" && environment)).toHaveLength(
      environment ? 1 : 0,
    );
});

/** What a job runs, line by line. */
const linesOf = (job: string) =>
  (jobs.find(({ name }) => name === job)?.steps ?? []).flatMap(({ run = "" }) => run.split("\n"));

test("a release is tested, also on the schema of the release before it, and then synthesized", () =>
  expect(linesOf("check").filter((line) => line.startsWith("npm"))).toEqual([
    ...["npm run test:all", "npm run lab -- release-check", "npm run synth"],
  ]));

describe.each(["dev", "prod"])("the stage %s", (stage) => {
  test("is surveyed, compared, deployed and tried, in this order; a step that fails is the last one", () => {
    const lines = linesOf(stage).filter((line) => /^np[mx] /.test(line));
    expect(lines).toEqual([
      `npm run city -- preflight --stage ${stage}`,
      `npx cdk diff --method template --app cdk.out/${stage}`,
      expect.stringMatching(
        `^npx cdk deploy --all --require-approval never .*--app cdk.out/${stage} --outputs-file outputs.json$`,
      ),
      'npm run smoke -- --base-url "$integration" --messaging-base-url "$messaging"',
    ]);
    expect(texts).not.toMatch(/continue-on-error|always\(\)|failure\(\)|\|\| true/);
  });

  /** Runs the last step where npm prints its arguments, or fails. */
  const smoke = (outputs: object, status = 0) => {
    const folder = mkdtempSync(join(tmpdir(), "workflow-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(`${folder}/outputs.json`, JSON.stringify(outputs));
    writeFileSync(`${folder}/npm`, `#!/bin/sh\necho "$@"\nexit ${status}\n`, { mode: 0o755 });
    const script = jobs.find(({ name }) => name === stage)?.steps.at(-1)?.run ?? "";
    const PATH = `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`;
    return spawnSync("bash", ["-eo", "pipefail", "-c", script], {
      ...{ cwd: folder, encoding: "utf8", env: { PATH } },
    });
  };
  const outputs = {
    [`municipal-${stage}-integration-api`]: { BaseUrl: "https://services.example/api" },
    [`municipal-${stage}-messaging-api`]: { BaseUrl: "https://messages.example" },
  };

  test("is tried at the addresses that its deployment has printed", () =>
    expect(smoke(outputs)).toMatchObject({
      status: 0,
      stdout:
        "run smoke -- --base-url https://services.example/api --messaging-base-url https://messages.example\n",
    }));

  test("fails its job when the smoke test fails, or when it has no addresses", () => {
    expect(smoke(outputs, 3).status).toBe(3);
    expect(smoke({})).toMatchObject({ status: 1, stdout: "" });
  });
});

test("a deployment is neither cancelled by the next one nor endless", () => {
  for (const { concurrency } of jobs.filter(({ environment }) => /^(dev|prod)$/.test(environment ?? "")))
    expect(concurrency).toEqual({ group: expect.any(String), "cancel-in-progress": false });
  for (const job of jobs) expect(job["timeout-minutes"]).toBeGreaterThan(0);
});

test("jobs call only scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const named = [...texts.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name = "") => !scripts[name])).toEqual([]);
});

test("a commit is deployed only while it is the newest of main, unless someone starts the workflow by hand", () => {
  const [step] = readPrepareSteps();
  expect(readFileSync(prepareFile, "utf8").match(/^ {4}- if: (.*)\n/m)?.[1]).toBe(
    "inputs.role != '' && github.event_name != 'workflow_dispatch'",
  );
  const folder = mkdtempSync(join(tmpdir(), "workflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (...args: readonly string[]) => {
    const author = ["-c", "user.name=test", "-c", "user.email=test@city.example"];
    return execFileSync("git", [...author, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  };
  git("init", "--initial-branch=main");
  git("remote", "add", "origin", folder);
  const commit = () => {
    git("commit", "--allow-empty", "--message=change");
    return git("rev-parse", "HEAD");
  };
  const start = (sha: string) =>
    spawnSync("env", [`GITHUB_SHA=${sha}`, "bash", "-eo", "pipefail", "-c", step?.run ?? ""], {
      ...{ cwd: folder, encoding: "utf8" },
    });
  const [older, newest] = [commit(), commit()];
  expect(start(newest)).toMatchObject({ status: 0, stdout: "" });
  const { status, stdout } = start(older);
  expect([status, stdout]).toEqual([1, expect.stringContaining(`main is at ${newest} now`)]);
  rmSync(join(folder, ".git"), { recursive: true });
  expect(start(older).status).not.toBe(0);
});

test("where AWS can be called, no script of a dependency runs", () => {
  const lines = readPrepareSteps().flatMap(({ run }) => run ?? []);
  const [bare, ...others] = lines.filter((line) => line.includes("npm ci"));
  expect(bare).toBe("npm ci");
  expect(others).toEqual([expect.stringMatching(/^npm ci --ignore-scripts$/m)]);
  expect(texts).toMatch(/- if: inputs\.role == ''\n +run: npm ci\n/);
  expect(texts).toMatch(/- if: inputs\.role != ''\n +run: \|\n +npm ci --ignore-scripts\n/);
});

test("only the smoke test has its credentials, without those of AWS", () => {
  const secret = jobs.flatMap(({ steps }) => steps).filter(({ env = {} }) => "SMOKE_CREDENTIALS" in env);
  for (const { run, env = {} } of secret)
    expect([run, Object.keys(env)]).toEqual([expect.stringMatching(/npm run smoke/), ["SMOKE_CREDENTIALS"]]);
  expect(texts.match(/SMOKE_CREDENTIALS:/g)).toHaveLength(secret.length);
});
