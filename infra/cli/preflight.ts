import { resolve6 } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { findSetting } from "#lib/config.ts";
import { readConfig } from "../aws/config.ts";
import { checks, type Problem, Refused, type Surveyed } from "../aws/preflight.ts";
import { runAws, runProgram } from "./aws-cli.ts";
import { CommandError, exitCodes, WrongCall } from "./command.ts";
import { noun, requireStage } from "./stage.ts";

const readStage = (stage: string) => {
  const { context } = JSON.parse(readFileSync("cdk.json", "utf8")) as { context: Record<string, unknown> };
  try {
    return readConfig(new App({ context: { ...context, stage } }).node, context);
  } catch (error) {
    throw new WrongCall(error instanceof Error ? error.message : String(error));
  }
};

const readBaseImage = (): string =>
  /^FROM (\S+)$/m.exec(readFileSync("infra/aws/messenger.Dockerfile", "utf8"))?.[1] ?? "";

const findRegion = async (given: string | undefined): Promise<string> => {
  const known = given ?? findSetting("AWS_REGION");
  if (known) return known;
  const configured = await runProgram("aws", ["configure", "get", "region"]).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    return ""; // the AWS CLI ends with 1 when none is set
  });
  if (configured.trim()) return configured.trim();
  throw new WrongCall("No region is set. Pass --region, such as ap-southeast-3, or set AWS_REGION.");
};

interface Finding {
  readonly check: string;
  readonly problem: Problem | undefined;
}

/** Asks all checks that the stage needs. What AWS does not let the caller read is a problem, too. */
export const survey = (stage: Surveyed): Promise<Finding[]> =>
  Promise.all(
    checks
      .filter(({ isNeeded }) => isNeeded?.(stage.config) ?? true)
      .map(async ({ name, find }) => {
        const aws = (...args: readonly string[]) => stage.aws(...args, "--region", stage.region);
        const problem = await find({ ...stage, aws }).catch((error: unknown): Problem => {
          if (!(error instanceof Refused)) throw error;
          return {
            says: `It cannot be checked: AWS answered ${error.code}.`,
            fix: "use credentials that may read it",
          };
        });
        return { check: name, problem };
      }),
  );

const show = ({ check, problem }: Finding): string =>
  problem ? `fix  ${check}: ${problem.says}\n     ${problem.fix}` : `ok   ${check}`;

export const run = noun(
  "preflight",
  "Check what must be so before a stage is deployed, with the command that corrects it.",
  (program, answer) => {
    program
      .option("--region <region>", "region of AWS; by default that of the environment or the AWS CLI")
      .action(
        answer(async ({ region: given }) => {
          const stage = requireStage();
          const config = readStage(stage);
          const region = await findRegion(given);
          const platforms = () => runProgram("docker", ["buildx", "inspect", "--bootstrap"]);
          const baseImage = readBaseImage();
          const findings = await survey({ config, region, aws: runAws, resolve6, platforms, baseImage });
          const wrong = findings.filter(({ problem }) => problem).length;
          return {
            text: [
              `The stage ${stage} with the database "${config.database.kind}", in ${region}:`,
              ...findings.map(show),
              wrong === 0 ? `Nothing to do: ${stage} can be deployed to ${region}.` : `To correct: ${wrong}.`,
            ].join("\n"),
            json: { stage, region, findings },
            code: wrong === 0 ? exitCodes.done : exitCodes.failed,
          };
        }),
      );
  },
);
