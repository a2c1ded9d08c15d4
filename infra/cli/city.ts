import { type Command, exitCodes, runCommand } from "./command.ts";

interface Noun {
  readonly about: string;
  /** Loads its file alone. */
  readonly load: () => Promise<{ readonly run: Command }>;
}

/** What an operator works with. */
export const nouns: Readonly<Record<string, Noun>> = {
  account: {
    about: "the accounts that send messages, each with its number",
    load: () => import("./account.ts"),
  },
  audit: { about: "verification of the audit of resident reads", load: () => import("./audit.ts") },
  callback: {
    about: "addresses that get the changes of messages' states",
    load: () => import("./callback.ts"),
  },
  console: { about: "the operators' console", load: () => import("./console.ts") },
  "dead-letters": { about: "failed notification events of a stage", load: () => import("./dead-letters.ts") },
  import: { about: "import of CSV files", load: () => import("./import.ts") },
  migrate: { about: "migration of the database, without a time limit", load: () => import("./migrate.ts") },
  notify: { about: "notification jobs and opt-outs", load: () => import("./notify/notify.ts") },
  operators: { about: "operators of the console", load: () => import("./operators.ts") },
  partner: { about: "keys, plans and limits of partner agencies", load: () => import("./partner.ts") },
  preflight: { about: "what must be so before a stage is deployed", load: () => import("./preflight.ts") },
  residents: { about: "state of the index of residents", load: () => import("./residents.ts") },
  seed: { about: "invented residents and tourism data", load: () => import("./seed.ts") },
  sender: { about: "senders of messages: credentials, classes, quotas", load: () => import("./sender.ts") },
  sessions: { about: "login sessions of employees", load: () => import("./sessions.ts") },
  status: { about: "whether messages go out, and what is wrong", load: () => import("./status.ts") },
  subject: {
    about: "requests of citizens: report, correct, restrict, erase",
    load: () => import("./subject/subject.ts"),
  },
  "token-key": { about: "rotation of the key that signs tokens", load: () => import("./token-key.ts") },
};

const list = (): string =>
  Object.entries(nouns)
    .map(([name, { about }]) => `  ${name.padEnd(14)}${about}`)
    .join("\n");

const help = () => `Usage: npm run city -- <noun> <verb> [options]

Nouns:
${list()}

npm run city -- <noun> --help lists the verbs. --stage NAME works with a deployed stage, else with the running npm run dev.`;

const explain = (name: string): string =>
  name.startsWith("-")
    ? `Options follow the noun and the verb: npm run city -- NOUN VERB ${name}`
    : `Unknown noun '${name}'. Use one of:\n${list()}`;

/** The operator's command: finds the noun, and leaves the rest to it. */
export const run: Command = async ([name, ...args]) => {
  const noun = name !== undefined && Object.hasOwn(nouns, name) ? nouns[name] : undefined;
  if (noun) return (await noun.load()).run(args);
  if (name === undefined || ["--help", "-h", "help"].includes(name)) {
    console.log(help());
    return exitCodes.done;
  }
  const error = explain(name);
  console.error([name, ...args].includes("--json") ? JSON.stringify({ error }) : error);
  return exitCodes.wrongCall;
};

if (import.meta.main) await runCommand(run);
