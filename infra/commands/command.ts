import { type ParseArgsConfig, parseArgs, styleText } from "node:util";

/** A failure that the operator can fix; the message says how. Printed without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

const isParseArgsError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

/** Returns what the operator can fix, or undefined for any other error. */
const explain = (error: unknown): string | undefined => {
  if (error instanceof CommandError) return error.message;
  // Node adds advice on how to pass a value that begins with a dash
  if (isParseArgsError(error)) return error.message.replace(/\. To specify .*|\nDid you forget .*/s, "");
  const { name, message, code } = error as Error & { code?: string };
  if (code === "28P01") return "The database rejected the username or the password.";
  if (message.startsWith("environment variable")) return `The ${message}.`;
  return message === "Region is missing" || name === "CredentialsProviderError"
    ? `AWS cannot be called: ${explainAwsError(error)}.`
    : undefined;
};

/** Runs with the command-line arguments. @returns the exit code. */
export type Command = (args: string[]) => Promise<number>;

/** @throws CommandError if there are more arguments than a command takes. */
export const rejectExtra = (args: readonly string[]) => {
  if (args.length > 0) throw new CommandError(`Unexpected argument: ${args.join(" ")}`);
};

type Options = NonNullable<ParseArgsConfig["options"]>;
type Call<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: O }>
>;

/**
 * Creates a command. Failures are printed and become exit code 1.
 *
 * @param usage printed for `--help`, without arguments, and after an invalid option.
 * @param work returns the exit code, if it is not 0.
 * @param needsArguments whether a call without arguments prints the usage.
 */
export const command =
  <O extends Options>(
    usage: string,
    options: O,
    work: (call: Call<O>) => Promise<number> | Promise<void>,
    { needsArguments = true } = {},
  ): Command =>
  async (args) => {
    if ((needsArguments && args.length === 0) || args.includes("--help") || args.includes("-h")) {
      console.log(usage);
      return args.length === 0 ? 1 : 0;
    }
    try {
      return (await work(parseArgs({ args, allowPositionals: true, options }))) ?? 0;
    } catch (error) {
      const explained = explain(error);
      if (explained === undefined) console.error(error);
      else console.error(styleText("red", explained) + (isParseArgsError(error) ? `\n\n${usage}` : ""));
      return 1;
    }
  };

type Verb<O extends Options> = (
  values: Call<O>["values"],
  ...names: string[]
) => Promise<number> | Promise<void>;

/**
 * Creates a command whose first argument is a verb.
 *
 * @param verbs by their usage, such as `drop ID`; a final `…` takes any number of arguments.
 */
export const verbCommand = <O extends Options>(
  usage: string,
  options: O,
  verbs: Readonly<Record<string, Verb<O>>>,
): Command =>
  command(usage, options, ({ positionals: [name, ...names], values }) => {
    const table = Object.entries(verbs).map(([signature, work]) => ({ words: signature.split(" "), work }));
    const verb = table.find(({ words }) => words[0] === name);
    if (!verb) {
      const known = table.map(({ words }) => words[0]).join(", ");
      throw new CommandError(`${name ? `Unknown command: ${name}` : "A command is missing"}. Use ${known}.`);
    }
    if (!verb.words.at(-1)?.endsWith("…")) rejectExtra(names.slice(verb.words.length - 1));
    return verb.work(values, ...names);
  });

/** Runs a command as the main program of this process. */
export const runCommand = async (run: Command): Promise<void> => {
  // the reader may close the pipe early, as `head` does
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await run(process.argv.slice(2));
};

/** Explains a failed call to AWS in a few words, for the middle of a sentence. */
export const explainAwsError = (error: unknown): string => {
  const { name, message } = error as Error;
  if (message === "Region is missing") return "no AWS region is set; set AWS_REGION";
  if (name === "CredentialsProviderError") return "no AWS credentials were found";
  return `${name}: ${message}`;
};
