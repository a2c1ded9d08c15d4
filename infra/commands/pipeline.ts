import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import * as z from "zod/mini";
import { CommandError, command, runCommand, WrongCall } from "./command.ts";

const about = `Check the release, and bring it to the stages one after the other. What is deployed is what was synthesized once.

Without STEP, all steps run: check, release-check and synth, then for each stage preflight, diff, deploy and smoke. Only the
stage prod must be approved before it is deployed, and not when its steps are named without approve. After a step that
fails, no later one runs. The credentials for smoke are in SMOKE_CREDENTIALS.`;

/** Nothing was started: the advice of the step is for its program. */
const missing = (file: string, what: string) => new CommandError(`${file} is missing. ${what}`);

/** What `npm run synth` has written for a stage. */
const assemblyOf = (stage: string) => `cdk.out/${stage}`;
const outputsOf = (stage: string) => `${assemblyOf(stage)}.outputs.json`;

interface Surroundings {
  /** Where the programs print: not to stdout when the data alone must be there. */
  readonly printTo: 1 | 2;
}
/** @returns what is wrong, in words for the middle of a sentence, or undefined. */
type Work = (stage: string, surroundings: Surroundings) => Promise<string | undefined>;

const runProgram =
  (program: string, list: (stage: string) => readonly string[]): Work =>
  async (stage, { printTo }) => {
    const child = spawn(program, list(stage), { stdio: ["inherit", printTo, "inherit"] });
    const [code, signal] = await once(child, "exit");
    return code === 0 ? undefined : `${program} ended with ${signal ?? code}`;
  };

/** With the assembly, so that nothing is synthesized again. */
const runCdk = (list: (stage: string) => readonly string[]): Work => {
  const run = runProgram("cdk", (stage) => [...list(stage), "--app", assemblyOf(stage)]);
  return async (stage, surroundings) => {
    if (existsSync(`${assemblyOf(stage)}/manifest.json`)) return run(stage, surroundings);
    throw missing(
      assemblyOf(stage),
      "Run the step synth first; it synthesizes the stages that the script synth in package.json names.",
    );
  };
};

const Outputs = z.record(z.string(), z.object({ BaseUrl: z.optional(z.string()) }));

/** Runs `npm run smoke` with the addresses that the deployment has printed. */
const smoke: Work = async (stage, surroundings) => {
  const file = outputsOf(stage);
  if (!existsSync(file)) throw missing(file, "Run the step deploy first.");
  const outputs = Outputs.parse(JSON.parse(readFileSync(file, "utf8")));
  const address = (api: string) => outputs[`municipal-${stage}-${api}-api`]?.BaseUrl ?? "";
  const addresses = [
    ...["--base-url", address("integration")],
    ...["--messaging-base-url", address("messaging")],
  ];
  return runProgram("npm", () => ["run", "smoke", "--", ...addresses])(stage, surroundings);
};

const approve: Work = async (stage) => {
  if (!process.stdin.isTTY) return "nobody can be asked without a terminal";
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await reader.question(`To deploy the difference above, type ${stage}: `);
  reader.close();
  return answer.trim() === stage ? undefined : "the answer was another one";
};

interface Step {
  readonly work: Work;
  /** What to do when it fails. */
  readonly fix: string;
}

/** The steps of a release, in their order. */
const releaseSteps: Readonly<Record<string, Step>> = {
  check: {
    work: runProgram("npm", () => ["test"]),
    fix: "Correct what the tests report. Nothing was deployed.",
  },
  "release-check": {
    work: runProgram("npm", () => ["run", "release-check"]),
    fix: "Change the new migrations so that the release before works on them. Nothing was deployed.",
  },
  synth: {
    work: runProgram("npm", () => ["run", "synth"]),
    fix: "Correct cdk.json, or what the synthesis reports. Nothing was deployed.",
  },
};

/** The steps of a stage, in their order. */
const stageSteps: Readonly<Record<string, Step>> = {
  preflight: {
    work: runProgram("npm", (stage) => ["run", "preflight", "--", "--stage", stage]),
    fix: "Do what the preflight says above.",
  },
  diff: {
    // by the role that may only read, which a change set could not be made with
    work: runCdk(() => ["diff", "--method", "template"]),
    fix: "Check the credentials and the region.",
  },
  approve: {
    work: approve,
    fix: "Whoever is responsible for the stage has to read the difference and approve it, in a terminal or on GitHub.",
  },
  deploy: {
    work: runCdk((stage) => [
      ...["deploy", "--all", "--require-approval", "never", "--progress", "events"],
      ...["--outputs-file", outputsOf(stage)],
    ]),
    fix: 'What CloudFormation had begun, it has rolled back: see "A deployment that fails" in the guide to deploying.',
  },
  smoke: {
    work: smoke,
    fix: "The new release is deployed. Read what the cases suggest; to go back, deploy the release before.",
  },
};

const stepNames = [...Object.keys(releaseSteps), ...Object.keys(stageSteps)];

/** @throws WrongCall for a step in place of a stage. */
const addStage = (stage: string, earlier: readonly string[] = []) => {
  if (stepNames.includes(stage))
    throw new WrongCall(`--stage needs the name of a stage, and ${stage} is a step.`);
  return [...earlier, stage];
};

/** @throws WrongCall for steps that do not exist. */
const choose = (given: readonly string[], stages: readonly string[]) => {
  const unknown = given.filter((name) => !stepNames.includes(name));
  if (unknown.length > 0)
    throw new WrongCall(`There is no step ${unknown.join(", ")}. The steps are ${stepNames.join(", ")}.`);
  const isChosen = (name: string, stage = "") =>
    given.length > 0 ? given.includes(name) : name !== "approve" || stage === "prod";
  const pick = (steps: Readonly<Record<string, Step>>, stage?: string) =>
    Object.entries(steps)
      .filter(([name]) => isChosen(name, stage))
      .map(([name, step]) => ({ name, stage, ...step }));
  const ofStages = stages.flatMap((stage) => pick(stageSteps, stage));
  if (stages.length === 0 && given.some((name) => stageSteps[name]))
    throw new WrongCall("--stage is missing: --stage dev, --stage prod, or both in this order.");
  return [...pick(releaseSteps), ...ofStages];
};

export const run = command("pipeline", about, (program, answer, print) => {
  program
    .argument("[step...]", `only these: ${stepNames.join(", ")}`)
    .option(
      "--stage <stage>",
      "a stage; repeat it for each stage, in the order in which they are deployed; without STEP: dev, then prod",
      addStage,
    )
    .action(
      answer(async (given, { stage: stages = given.length > 0 ? [] : ["dev", "prod"], json }) => {
        const printTo = json ? 2 : 1;
        const done: string[] = [];
        const steps = choose(given, stages);
        for (const [index, { name, stage = "", work, fix }] of steps.entries()) {
          const title = `${name} ${stage}`.trim();
          print(`▶ ${title}`);
          const wrong = await work(stage, { printTo });
          if (wrong !== undefined) {
            const later = steps.slice(index + 1).map((one) => `${one.name} ${one.stage ?? ""}`.trim());
            const left = later.length > 0 ? ` Not run: ${later.join(", ")}.` : "";
            throw new CommandError(`The step "${title}" failed: ${wrong}. ${fix}${left}`);
          }
          done.push(title);
        }
        return { text: `Done: ${done.join(", ")}.`, json: { done } };
      }),
    );
});

if (import.meta.main) await runCommand(run);
