import { styleText } from "node:util";

/** A failure that the operator can fix; the message says how. Printed without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

const isParseArgsError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

/** Runs with the command-line arguments. @returns the exit code. */
export type Command = (args: string[]) => Promise<number>;

/**
 * Creates a command. Failures are printed and become exit code 1.
 *
 * @param usage printed for `--help`, without arguments, and after an invalid option.
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

/** The error for a command that does not exist. */
export const unknownCommand = (verb: string | undefined, choices: readonly string[]): CommandError =>
  new CommandError(`Unknown command: ${verb}. Use ${choices.join(", ")}.`);

/** @throws CommandError if there are more arguments than a command takes. */
export const rejectExtra = (args: readonly string[]): void => {
  if (args.length > 0) throw new CommandError(`Unexpected argument: ${args.join(" ")}`);
};

/** Runs a command as the main program of this process. */
export const runCommand = async (run: Command): Promise<void> => {
  // the reader may close the pipe early, as `head` does
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await run(process.argv.slice(2));
};
