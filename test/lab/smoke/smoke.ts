import { command, exitCodes, readWhole, runCommand } from "../../../infra/cli/command.ts";
import { readTarget } from "../../contract/target.ts";
import { formatSummary, startReport, summarize } from "./report.ts";
import { checkStage } from "./run.ts";

const about = `Run the contract cases of the tests against a deployed stage. Changes nothing there without --login or --send-to.

The addresses and credentials come from options, or from JSON with the fields of .local/dev.json that you have: apiKey (with
all scopes), basic {username, password}, employee {username, password, nip, passphrase}, baseUrl, messagingBaseUrl.
Cases that cannot run are listed as skipped, with the reason. A rejected credential is listed once.`;

export const run = command("smoke", about, (program, answer, print) => {
  program
    .option("--base-url <url>", "integration API, with its base path: https://api.example.go.id/api")
    .option("--messaging-base-url <url>", "messaging API")
    .option("--credentials <file>", "the JSON; /dev/stdin works too; default: the variable SMOKE_CREDENTIALS")
    .option("--login", "log in the employee account once, which leaves a session behind", false)
    .option("--send-to <phone>", "send one text to this number; use a number of your own")
    .option("--timeout <seconds>", "time limit for the whole run", readWhole("--timeout", 1, 9_999), 120)
    .action(
      answer(async ({ timeout, ...given }) => {
        const started = performance.now();
        const target = readTarget(given);
        const signal = AbortSignal.timeout(timeout * 1_000);
        const results = await checkStage(target, signal, startReport(target, print));
        const summary = summarize(results, started);
        return {
          text: formatSummary(summary, results),
          json: { ...target.addresses, ...summary, cases: results },
          code: signal.aborted ? exitCodes.failed : summary.failed > 0 ? exitCodes.partly : exitCodes.done,
        };
      }),
    );
});

if (import.meta.main) await runCommand(run);
