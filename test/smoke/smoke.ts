import { CommandError, command, rejectExtra, runCommand } from "../../infra/commands/command.ts";
import { readTarget } from "../contract/target.ts";
import { printSummary, startReport, summarize } from "./report.ts";
import { checkStage } from "./run.ts";

const usage = `Usage: npm run smoke -- --base-url URL --messaging-base-url URL [options]

Runs the contract cases of the tests against a deployed stage. Changes nothing there without --login or --send-to.

  --base-url URL            integration API, with its base path: https://api.example.go.id/api
  --messaging-base-url URL  messaging API
  --credentials FILE        JSON with the fields of .local/dev.json that you have (/dev/stdin works too): apiKey (with all scopes),
                            basic {username, password}, employee {username, password, nip, passphrase}, and
                            the addresses, unless they are given as options.
                            Default: the JSON in the environment variable SMOKE_CREDENTIALS
  --login                   logs in the employee account once, which leaves a session behind
  --send-to PHONE           sends one text to this number; use a number of your own
  --timeout SECONDS         time limit for the whole run (default: 120)
  --json                    prints one JSON object instead of lines

Cases that cannot run are listed as skipped, with the reason.
Exit code: 0 all passed, 2 some failed, 1 the run did not finish.`;

const readTimeoutMs = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) * 1_000;
  throw new CommandError(`--timeout must be a whole number of seconds from 1 to 9999, not ${text}`);
};

const options = {
  "base-url": { type: "string" },
  "messaging-base-url": { type: "string" },
  credentials: { type: "string" },
  login: { type: "boolean", default: false },
  "send-to": { type: "string" },
  timeout: { type: "string", default: "120" },
  json: { type: "boolean", default: false },
} as const;

export const run = command(
  usage,
  options,
  async ({ values, positionals }) => {
    rejectExtra(positionals);
    const started = performance.now();
    const target = readTarget(values);
    const signal = AbortSignal.timeout(readTimeoutMs(values.timeout));
    const results = await checkStage(target, signal, values.json ? () => {} : startReport(target));
    const summary = summarize(results, started);
    if (values.json)
      console.log(JSON.stringify({ ...target.addresses, ...summary, cases: results }, null, 2));
    else printSummary(summary, results);
    if (summary.failed > 0) return 2;
    return signal.aborted ? 1 : 0;
  },
  { needsArguments: false },
);

if (import.meta.main) await runCommand(run);
