import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Refused } from "../aws/preflight.ts";
import { CommandError } from "./command.ts";

const execute = promisify(execFile);

/** Runs a program. @throws CommandError when it is not installed. */
export const runProgram = async (program: string, args: readonly string[]): Promise<string> => {
  try {
    const { stdout } = await execute(program, args, { timeout: 30_000 });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new CommandError(`${program} is not installed; see /docs/runbook#before-you-begin`);
    throw error;
  }
};

/** Runs a command of the AWS CLI. @returns its JSON. @throws Refused with the code of AWS, or CommandError. */
export const runAws = async (...args: readonly string[]): Promise<unknown> => {
  try {
    return JSON.parse(await runProgram("aws", [...args, "--output", "json"]));
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    const [, code] = /\((\w+)\) when calling/.exec(stderr) ?? [];
    if (code) throw new Refused(code);
    if (stderr)
      throw new CommandError(
        `AWS cannot be called: ${stderr.trim().split("\n").at(-1)} Log in first, and choose the account with AWS_PROFILE.`,
      );
    throw error;
  }
};
