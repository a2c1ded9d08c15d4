import { styleText } from "node:util";

/** A failure that the operator can mend; its message says how. Shown without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

const isParseArgsError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

/** Runs with the arguments of the command line. @returns the exit code. */
export type Command = (args: string[]) => Promise<number>;

/**
 * Makes a command of what it does: failures become exit code 1 and a message.
 *
 * @param usage printed for `--help`, without arguments, and after a wrong option.
 */
export const command =
  (usage: string, work: Command): Command =>
  async (args) => {
    if (args.length === 0 || args.includes("--help") || args.includes("-h")) {
      console.log(usage);
      return args.length === 0 ? 1 : 0;
    }
    try {
      return await work(args);
    } catch (error) {
      if (isParseArgsError(error)) console.error(`${styleText("red", error.message)}\n\n${usage}`);
      else if (error instanceof CommandError) console.error(styleText("red", error.message));
      else console.error(error);
      return 1;
    }
  };

/** Runs a command as the program of this process. */
export const runCommand = async (run: Command): Promise<void> => {
  // whoever reads may have had enough, such as `head`
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await run(process.argv.slice(2));
};
