import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { CommandError } from "./command.ts";

/**
 * What the AWS CLI answers: with the account, region and rights that the operator has given it.
 *
 * @param input is read by it as `fileb:///dev/stdin`; on the command line every user of the machine could read it.
 * @throws CommandError with what it says when it fails, or is not there.
 */
export const askAws = async <T>(args: readonly string[], input = ""): Promise<T> => {
  const child = spawn("aws", [...args, "--output", "json"]);
  const failed = new Promise<never>((_, reject) =>
    child.once("error", () => reject(new CommandError("The AWS CLI is not installed, or not on the PATH"))),
  );
  child.stdin.on("error", () => {}).end(input);
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [answer, complaint] = await Promise.race([
    Promise.all([text(child.stdout), text(child.stderr), code]),
    failed,
  ]);
  if ((await code) !== 0) throw new CommandError(complaint.trim() || "The AWS CLI failed");
  return (answer.trim() === "" ? {} : JSON.parse(answer)) as T;
};
