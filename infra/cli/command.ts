import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import { CommanderError, Command as Program } from "@commander-js/extra-typings";
import { describeError } from "#lib/log.ts";

/** What an exit code means, for every command: `partly` if it finished, but for example some rows were rejected. */
export const exitCodes = { done: 0, failed: 1, wrongCall: 2, partly: 3 } as const;

/** A failure that the operator can fix; the message says how. Printed without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The arguments are wrong, so that nothing was tried. */
export class WrongCall extends CommandError {
  override readonly name = "WrongCall";
}

/** What a command prints: the text, or the data with `--json`. */
export interface Reply {
  readonly text: string;
  readonly json: unknown;
  /** Default: done. */
  readonly code?: number;
  /** Runs once the reply is printed. @returns lines about what it did, which are not part of the data. */
  readonly afterwards?: () => Promise<readonly string[]>;
}

/** Runs with the command-line arguments. @returns the exit code. */
export type Command = (args: string[]) => Promise<number>;

/** Turns work into an action of commander, which prints the reply of the work. */
type Answer = <A extends unknown[]>(
  work: (...args: A) => Promise<Reply> | Reply,
) => (...args: A) => Promise<void>;

const root = fileURLToPath(new URL("../..", import.meta.url));
const codesText = `
Exit code: 0 done, 1 failed, 2 invalid usage, 3 finished with the failures listed.`;

const callOf = (name: string): string => `npm run ${name}${name.includes("--") ? "" : " --"}`;

const createProgram = (name: string, summary: string, json: boolean) => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string };
  return new Program(callOf(name))
    .description(summary)
    .version(version, "--version", "print the version")
    .option("--json", "print one JSON object, and errors as JSON to stderr")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .addHelpText("afterAll", codesText)
    .configureHelp({ showGlobalOptions: true, helpWidth: 130 })
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      // the help that follows a missing subcommand
      writeErr: (text) => json || console.error(text.trimEnd()),
      outputError: () => {},
    })
    .exitOverride();
};

/** Returns what is wrong with the arguments, and where the valid ones are listed. */
const explainParse = ({ code, message }: CommanderError, name: string): string => {
  const said = code === "commander.help" ? "a command is missing" : message.replace(/^error: /, "");
  const [first = "", ...hints] = said.split("\n");
  const hint = hints.map((line) => ` ${line.replace(/^\((.*)\)$/, "$1")}`).join("");
  return `${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.$/, "")}.${hint} See: ${callOf(name)} --help`;
};

/** Returns what the operator can fix, or undefined for any other error. */
const explain = (error: unknown, name: string): string | undefined => {
  if (error instanceof CommandError) return error.message;
  if (error instanceof CommanderError) return explainParse(error, name);
  const { name: kind, message, code, cause } = error as Error & { code?: string };
  if (code === "28P01") return "The database rejected the username or the password.";
  if (/^secret \S+ cannot be read$/.test(message)) return `The ${message}: ${explainAwsError(cause)}.`;
  if (message.startsWith("environment variable")) return `The ${message}.`;
  if (message === "Region is missing" || kind === "CredentialsProviderError")
    return `AWS cannot be called: ${explainAwsError(error)}.`;
  // every error that AWS answers with has it
  return error instanceof Error && "$metadata" in error
    ? `AWS refused the request: ${explainAwsError(error)}.`
    : undefined;
};

/** An error that nobody foresaw, without what PostgreSQL quotes of the data. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { name, code, message, stack, cause } = describeError(error);
  const text = stack ?? `${name} ${code}: ${message}`;
  return cause === undefined ? text : `${text}\nCause: ${describe(cause)}`;
};

const printFailure = (error: unknown, name: string, json: boolean): number => {
  const explained = explain(error, name);
  if (json) console.error(JSON.stringify({ error: explained ?? describe(error).split("\n")[0] }));
  else console.error(explained === undefined ? describe(error) : styleText("red", explained));
  const isWrongCall = error instanceof WrongCall || error instanceof CommanderError;
  return isWrongCall ? exitCodes.wrongCall : exitCodes.failed;
};

/** Adds options, and the action or subcommands. @param print shows a line at once. */
export type Define = (
  program: ReturnType<typeof createProgram>,
  answer: Answer,
  print: (line: string) => void,
) => void;

/**
 * Creates a command with the options that every command has. Failures are printed.
 *
 * @param name what follows `npm run`: a script, or `city -- ` and a noun.
 */
export const command =
  (name: string, summary: string, define: Define): Command =>
  async (args) => {
    // also when the other arguments are wrong
    const json = args.includes("--json");
    let code: number = exitCodes.done;
    const program = createProgram(name, summary, json);
    // with --json, the data is alone on stdout
    const print = (line: string) => (json ? console.error : console.log)(line);
    const answer: Answer =
      (work) =>
      async (...given) => {
        const reply = await work(...given);
        if (json) console.log(JSON.stringify(reply.json, null, 2));
        else if (reply.text) console.log(reply.text);
        code = reply.code ?? code;
        for (const line of (await reply.afterwards?.()) ?? []) print(line);
      };
    define(program, answer, print);
    try {
      await program.parseAsync(args, { from: "user" });
      return code;
    } catch (error) {
      if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
      return printFailure(error, name, json);
    }
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

/** Returns the size of a file. @throws WrongCall if there is none */
export const getSize = (file: string): number => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new WrongCall(`File not found: ${file}`);
  return stat.size;
};

/** Reads a whole number. @throws WrongCall */
export const readWhole = (option: string, least: number, most: number) => (text: string) => {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new WrongCall(`${option} must be a whole number from ${least} to ${most}, not ${text || "empty"}`);
};

/** Explains a failed call to AWS in a few words, for the middle of a sentence. */
export const explainAwsError = (error: unknown): string => {
  const { name, message } = error as Error;
  if (message === "Region is missing") return "no AWS region is set; set AWS_REGION";
  if (name === "CredentialsProviderError") return "no AWS credentials were found";
  const hint =
    name === "ResourceNotFoundException" ? "; check the stage's name, the account and the region" : "";
  return `${name}: ${message.replace(/\.$/, "")}${hint}`;
};
