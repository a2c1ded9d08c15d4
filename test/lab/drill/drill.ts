import { Argument } from "@commander-js/extra-typings";
import { build } from "../../../infra/build/build.ts";
import { command, exitCodes, readWhole } from "../../../infra/cli/command.ts";
import { hasPassed, recoverySeconds, renderReport, renderUpgrade } from "./report.ts";
import { type DrillOptions, runDrill } from "./run.ts";
import { runUpgrade, type UpgradeOptions } from "./upgrade.ts";

const about = `Practise what is done with a database at most once a year. Without a name: restore.

restore: back up a database while it is used, lose it with its server, restore it, and check that nothing is missing.

The city, its residents and its phones are invented and exist only meanwhile, on this machine. The drill takes a physical
backup by PostgreSQL's own functions, archives the log, deletes the data, replays the log elsewhere, deploys on it and
starts the messenger. It prints each step with its time, the time to recover (RTO) and what was lost (RPO). With
pg_dump on the PATH, not older than the server, it also restores a dump and the data of one alone. The exit code is 1 if
anything is missing.

upgrade: move a city to another server by logical replication while it is used: copy, go on, stop the writers, copy the
sequences, switch. Both servers have the version from npm, or the first one that of --from-binaries.`;

const kinds = ["restore", "upgrade"] as const;

const practices = {
  restore: async (options: DrillOptions) => {
    const report = await runDrill(options);
    return { text: renderReport(report), ...report };
  },
  upgrade: async (options: UpgradeOptions) => {
    const report = await runUpgrade(options);
    return { text: renderUpgrade(report), ...report };
  },
};

export const run = command("lab -- drill", about, (program, answer, print) => {
  program
    .addArgument(new Argument("[kind]", "what to practise").choices(kinds).default("restore" as const))
    .option("--from-binaries <folder>", "upgrade from the PostgreSQL whose bin folder this is")
    .option("--residents <number>", "invented residents", readWhole("--residents", 1, 9_999_999), 100_000)
    .option("--phones <number>", "phones that get messages", readWhole("--phones", 1, 99), 20)
    .action(
      answer(async (kind, { residents, phones, fromBinaries }) => {
        const interrupted = new AbortController();
        const interrupt = () => interrupted.abort();
        const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
        for (const signal of signals) process.on(signal, interrupt);
        await build();
        const options = {
          ...{ residents, phones, dumps: true, fromBinaries, signal: interrupted.signal },
          onStep: ({ name }: { name: string }) => print(`${name} …`),
        };
        const { text, ...report } = await practices[kind](options);
        for (const signal of signals) process.off(signal, interrupt);
        const passed = hasPassed(report) && !interrupted.signal.aborted;
        const json = { passed, recoverySeconds: recoverySeconds(report), ...report };
        return { text: `\n${text}`, json, code: passed ? exitCodes.done : exitCodes.failed };
      }),
    );
});
