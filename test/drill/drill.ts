import { build } from "../../infra/build/build.ts";
import { command, exitCodes, readWhole, runCommand } from "../../infra/commands/command.ts";
import { hasPassed, recoverySeconds, renderReport } from "./report.ts";
import { runDrill } from "./run.ts";

const about = `Back up a database while it is used, lose it with its server, restore it, and check that nothing is missing.

The city, its residents and its phones are invented and exist only meanwhile, on this machine. The drill takes a physical
backup by PostgreSQL's own functions, archives the log, deletes the data, replays the log elsewhere, deploys on it and
starts the messenger. It prints each step with its time, the time to recover (RTO) and what was lost (RPO). With
pg_dump on the PATH, not older than the server, it also restores a dump and the data of one alone. The exit code is 1 if
anything is missing.`;

export const run = command("drill", about, (program, answer, print) => {
  program
    .option("--residents <number>", "invented residents", readWhole("--residents", 1, 9_999_999), 100_000)
    .option("--phones <number>", "phones that get messages", readWhole("--phones", 1, 99), 20)
    .action(
      answer(async ({ residents, phones }) => {
        const interrupted = new AbortController();
        const interrupt = () => interrupted.abort();
        const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
        for (const signal of signals) process.on(signal, interrupt);
        await build();
        const report = await runDrill({
          ...{ residents, phones, dumps: true, signal: interrupted.signal },
          onStep: ({ name }) => print(`${name} …`),
        });
        for (const signal of signals) process.off(signal, interrupt);
        const passed = hasPassed(report) && !interrupted.signal.aborted;
        const json = { passed, recoverySeconds: recoverySeconds(report), ...report };
        return { text: `\n${renderReport(report)}`, json, code: passed ? exitCodes.done : exitCodes.failed };
      }),
    );
});

if (import.meta.main) {
  await runCommand(run);
  // the platform library leaves timers behind
  process.exit();
}
