import { styleText } from "node:util";

/** A failure that the operator can mend; its message says how. Shown without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

const isParseArgsError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

/**
 * Runs a command to its end and sets the exit code: what `work` returns, 0 for nothing, 1 for a failure.
 *
 * @param usage printed for `--help` and after a wrong option.
 */
export const runCommand = async (usage: string, work: (args: string[]) => Promise<number | undefined>) => {
  const args = process.argv.slice(2);
  // whoever reads may have had enough, such as `head`
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exitCode = args.length === 0 ? 1 : 0;
    return;
  }
  try {
    process.exitCode = (await work(args)) ?? 0;
  } catch (error) {
    process.exitCode = 1;
    if (isParseArgsError(error)) console.error(`${styleText("red", error.message)}\n\n${usage}`);
    else if (error instanceof CommandError) console.error(styleText("red", error.message));
    else console.error(error);
  }
};
