import { build } from "../../../infra/build/build.ts";
import { command, type Reply, readWhole, runCommand, WrongCall } from "../../../infra/cli/command.ts";
import { compileRuntimeClient } from "../../runtime-client/client.ts";
import { benchAccept } from "./accept.ts";
import { benchAccounts } from "./accounts.ts";
import { benchBurst } from "./burst.ts";
import { benchColdStart } from "./cold-start.ts";
import { benchStart, benchSuite, benchSynth } from "./commands.ts";
import { benchDelivery } from "./delivery.ts";
import { benchEnvironments } from "./environments.ts";
import { benchGrowth } from "./growth.ts";
import { writeGuides } from "./guide.ts";
import { benchIdleAccounts } from "./idle-accounts.ts";
import { benchImport } from "./import.ts";
import { benchMemory } from "./memory.ts";
import { benchOutbox } from "./outbox.ts";
import { installPeers } from "./peers.ts";
import { benchResidents } from "./residents.ts";
import { compareResult, printTable, type Result, writeResult } from "./result.ts";
import { benchVerify } from "./verify.ts";
import { benchWarm } from "./warm.ts";
import { benchYear } from "./year.ts";

const most = 100_000_000;

/** Growing numbers of accounts. */
const stepsTo = (most: number): readonly number[] => [
  ...[10, 50, 100, 200, 500].filter((step) => step < most),
  most,
];

/** Prints figures beside those before, and stores them if asked to, in the guide too: the stored ones are committed. */
const keep = (result: Result, store: boolean | undefined) => {
  const compared = compareResult(result);
  if (compared.length > 0) printTable(compared);
  if (!store) return result;
  console.error(`Stored: ${writeResult(result)}`);
  writeGuides();
  return result;
};

const reply = (results: readonly Result[], store: boolean | undefined): Reply => ({
  text: store
    ? "The figures are in test/lab/bench/results and in the guide."
    : "Not stored. With --store, the figures are written to test/lab/bench/results and into the guide.",
  json: results.map(({ bench, figures }) => ({ bench, ...figures })),
});

const run = command(
  "bench",
  "Measure this machine: one bench or, in about an hour and a half, all with their default sizes.",
  (program, answer) => {
    const defaults = {
      accept: 10_000,
      accounts: 10_000,
      burst: 2_000,
      delivery: 300,
      environments: 500,
      growth: 500_000,
      idle: 200,
      pairs: 15,
      messages: 50_000,
      recipients: 20_000,
      outbox: 10_000,
      rounds: 5,
      rows: 1_000_000,
      sample: 5_000,
      samples: 200,
      verifications: 2_000,
      warm: 100_000,
      year: 5_000_000,
    };
    const size = <N extends string>(name: N, what: string) =>
      [`--${name} <number>`, what, readWhole(`--${name}`, 1, most)] as const;
    const all = program.option(
      "--store",
      "write the figures to test/lab/bench/results, which is under version control",
    );
    const finish = (result: Result) => reply([keep(result, all.opts().store)], all.opts().store);
    all.hook("preAction", async (_, chosen) => {
      if (["bench", "cold-start"].includes(chosen.name())) compileRuntimeClient();
      if (["bench", "cold-start", "warm"].includes(chosen.name())) installPeers();
      await build();
    });
    all.action(
      answer(async ({ store }) => {
        const benches: readonly (() => Promise<Result>)[] = [
          () => benchAccept({ sends: defaults.accept }),
          () => benchAccounts({ recipients: defaults.accounts }),
          () => benchBurst({ requests: defaults.burst }),
          () => benchDelivery({ sends: defaults.delivery }),
          () => benchEnvironments({ requests: defaults.burst, environments: defaults.environments }),
          () => benchColdStart({ pairs: defaults.pairs }),
          () => benchIdleAccounts({ accounts: stepsTo(defaults.idle) }),
          () => benchImport({ rows: defaults.rows }),
          () => benchMemory({ messages: defaults.messages, recipients: defaults.recipients }),
          () => benchOutbox({ sends: defaults.outbox }),
          () => benchResidents({ rows: defaults.rows }),
          () => benchStart({ rounds: defaults.rounds }),
          () => benchSynth({ rounds: defaults.rounds }),
          () => benchVerify({ rows: defaults.rows, requests: defaults.verifications }),
          () => benchWarm({ requests: defaults.warm }),
        ];
        const results: Result[] = [];
        for (const bench of benches) results.push(keep(await bench(), store));
        return reply(results, store);
      }),
    );
    program
      .command("accept")
      .description("messages that the messenger accepts in a second")
      .option(...size("sends", "messages in each round"), defaults.accept)
      .action(answer(async (options) => finish(await benchAccept(options))));
    program
      .command("accounts")
      .description("ten accounts on three tasks, of which two are banned and one is killed five times")
      .option(...size("recipients", "different numbers"), defaults.accounts)
      .action(answer(async (options) => finish(await benchAccounts(options))));
    program
      .command("burst")
      .description("requests that the smallest stage serves and rejects, at growing rates and in a burst")
      .option(...size("requests", "requests of the burst"), defaults.burst)
      .action(answer(async (options) => finish(await benchBurst(options))));
    program
      .command("cold-start")
      .description("cold starts of each function")
      .option(...size("pairs", "starts of each function"), defaults.pairs)
      .option("--only <text>", "the functions whose name contains this text")
      .action(
        answer(async (options) => {
          if (options.only !== undefined && all.opts().store)
            throw new WrongCall("--store would replace the figures of the functions that --only leaves out");
          return finish(await benchColdStart(options));
        }),
      );
    program
      .command("delivery")
      .description("time from a request until the simulated phone shows its text, idle and under load")
      .option(...size("sends", "messages of each kind"), defaults.delivery)
      .action(answer(async (options) => finish(await benchDelivery(options))));
    program
      .command("environments")
      .description("a burst through many environments that nothing limits, on the smallest server")
      .option(...size("requests", "requests of the burst"), defaults.burst)
      .option(...size("environments", "environments"), defaults.environments)
      .action(answer(async (options) => finish(await benchEnvironments(options))));
    program
      .command("growth")
      .description(
        "bytes and write-ahead log of a message, a view and a seal, on a year's data; not one of all benches",
      )
      .option(...size("residents", "residents"), defaults.growth)
      .option(...size("messages", "messages of the last 30 days"), defaults.growth)
      .option(...size("audits", "reads of residents in the year"), defaults.growth)
      .option(...size("sample", "messages and views that are measured, of each kind"), defaults.sample)
      .option(...size("seed", "of the invented data"), 1)
      .action(answer(async (options) => finish(await benchGrowth(options))));
    program
      .command("idle-accounts")
      .description("memory and processor time of one task whose accounts have nothing to send")
      .option(...size("accounts", "most accounts"), defaults.idle)
      .action(
        answer(async ({ accounts }) => finish(await benchIdleAccounts({ accounts: stepsTo(accounts) }))),
      );
    program
      .command("import")
      .description("an import of residents, as a ratio to a bare COPY")
      .option(...size("rows", "residents of each file"), defaults.rows)
      .action(answer(async (options) => finish(await benchImport(options))));
    program
      .command("memory")
      .description("memory of the messenger; 50,000 texts take half an hour")
      .option(...size("messages", "texts"), defaults.messages)
      .option(...size("recipients", "different numbers"), defaults.recipients)
      .action(answer(async (options) => finish(await benchMemory(options))));
    program
      .command("outbox")
      .description("messages a second while a transaction is open")
      .option(...size("sends", "messages while it is open"), defaults.outbox)
      .action(answer(async (options) => finish(await benchOutbox(options))));
    program
      .command("residents")
      .description("list and search; ten million residents take half an hour and 15 GB")
      .option(...size("rows", "residents"), defaults.rows)
      .option(...size("beside", "the same pages of the list beside so many residents, from a million on"))
      .action(answer(async (options) => finish(await benchResidents(options))));
    program
      .command("start")
      .description("npm run dev until it is ready, and the first requests after that")
      .option(...size("rounds", "starts after the first one"), defaults.rounds)
      .option("--clone", "in a fresh clone of the last commit, with its npm ci")
      .action(answer(async (options) => finish(await benchStart(options))));
    program
      .command("suite")
      .description("npm test, which takes about 20 minutes; not one of all benches")
      .action(answer(async () => finish(await benchSuite())));
    program
      .command("synth")
      .description("the synthesis of a stage's templates")
      .option(...size("rounds", "syntheses"), defaults.rounds)
      .action(answer(async (options) => finish(await benchSynth(options))));
    program
      .command("verify")
      .description("verifications of right and wrong values, and of numbers that nobody has")
      .option(...size("rows", "residents"), defaults.rows)
      .option(...size("requests", "verifications of each kind"), defaults.verifications)
      .action(answer(async (options) => finish(await benchVerify(options))));
    program
      .command("warm")
      .description("requests to functions that are warm, with their database and without")
      .option(...size("requests", "requests to each function without its database"), defaults.warm)
      .action(answer(async (options) => finish(await benchWarm(options))));
    program
      .command("year")
      .description(
        "each statement after a year; takes hours and 60 GB with its default sizes, and is not one of all benches",
      )
      .option(...size("residents", "residents"), defaults.year)
      .option(...size("messages", "messages of the last 30 days"), defaults.year)
      .option(...size("audits", "reads of residents in the year"), defaults.year)
      .option(...size("samples", "of each statement; fewer of those that change many rows"), defaults.samples)
      .option(...size("seed", "of the invented data"), 1)
      .action(answer(async (options) => finish(await benchYear(options))));
  },
);

await runCommand(run);
// the platform library leaves timers behind
process.exit();
