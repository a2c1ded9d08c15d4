import { parseArgs } from "node:util";
import { CommandError, command, runCommand } from "../../infra/commands/command.ts";
import { printSummary, startReport, summarize } from "./report.ts";
import { askStage } from "./run.ts";
import { readTarget } from "./target.ts";

const usage = `Usage: npm run smoke -- --base-url URL --messaging-base-url URL [options]

Asks a deployed stage what the tests ask the local system, and changes nothing there unless it is told to.

  --base-url URL            integration API, with its base path: https://api.example.go.id/api
  --messaging-base-url URL  messaging API
  --credentials FILE        JSON of the shape of .local/dev.json, as far as you have it (/dev/stdin works too):
                            apiKey, basic {username, password}, employee {username, password, nip, passphrase},
                            and the addresses, where they are not given as options.
                            Without it, the same JSON in the environment variable SMOKE_CREDENTIALS
  --login                   logs the employee account in once, which leaves a session behind
  --send-to PHONE           sends one text to this number; take one of your own
  --timeout SECONDS         for all together (default: 120)
  --json                    one JSON object in place of the lines

What cannot be asked is listed as not asked, with what it would need.
Exit code: 0 nothing was otherwise than it should be, 2 something was, 1 it could not be asked to the end.`;

const readTimeoutMs = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) * 1_000;
  throw new CommandError(`--timeout must be whole seconds from 1 to 9999, not ${text}`);
};

export const run = command(usage, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      "base-url": { type: "string" },
      "messaging-base-url": { type: "string" },
      credentials: { type: "string" },
      login: { type: "boolean", default: false },
      "send-to": { type: "string" },
      timeout: { type: "string", default: "120" },
      json: { type: "boolean", default: false },
    },
  });
  const started = performance.now();
  const target = readTarget(values);
  const signal = AbortSignal.timeout(readTimeoutMs(values.timeout));
  const results = await askStage(target, signal, values.json ? () => {} : startReport(target));
  const summary = summarize(results, started);
  if (values.json) console.log(JSON.stringify({ ...target.addresses, ...summary, cases: results }, null, 2));
  else printSummary(summary, results);
  if (summary.failed > 0) return 2;
  return signal.aborted ? 1 : 0;
});

if (import.meta.main) await runCommand(run);
