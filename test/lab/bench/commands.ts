import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DevFile } from "../../../infra/local/announcement.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { type Measure, measureOf, printTable, type Result } from "./result.ts";
import { timed } from "./timing.ts";

const atOnce = 16;
const root = process.cwd();

const withFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    return await work(folder);
  } finally {
    await destroyServer(`${folder}/data/postgres`);
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Reads the whole description that `--json` prints when the system is ready. */
const readDescription = async (output: AsyncIterable<string>): Promise<DevFile> => {
  let text = "";
  for await (const chunk of output) {
    text += chunk;
    if (text.trimEnd().endsWith("\n}")) return JSON.parse(text);
  }
  throw new Error(`npm run dev ended: ${text}`);
};

/** Asks for the list so many times at once. @throws Error for another status than 200. */
const askAtOnce = ({ baseUrl, apiKey }: DevFile) =>
  Promise.all(
    Array.from({ length: atOnce }, async () => {
      const { status } = await fetch(`${baseUrl}/v1/penduduk`, {
        method: "POST",
        headers: { apikey: apiKey },
      });
      if (status !== 200) throw new Error(`the list answered ${status}`);
    }),
  );

/** Starts the system of a checkout. @returns seconds until it is ready, and milliseconds of its first requests. */
const startDev = async (checkout: string, data: string) => {
  const started = performance.now();
  const ports = ["port", "messaging-port", "console-port", "platform-port"].flatMap((name) => [
    `--${name}`,
    "0",
  ]);
  // the notifier asks the registry for npm's newest version
  const child = spawn(
    "npm",
    ["run", "-s", "--no-update-notifier", "dev", "--", "--json", "--folder", data, ...ports],
    {
      cwd: checkout,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = once(child, "close");
  try {
    const dev = await readDescription(child.stdout.setEncoding("utf8"));
    const seconds = (performance.now() - started) / 1_000;
    return { seconds, burstMs: await timed(() => askAtOnce(dev)) };
  } finally {
    child.stdout.resume();
    child.kill("SIGINT");
    await ended;
  }
};

/** Installs a clone of this checkout's last commit. @returns its folder, and the seconds of `npm ci`. */
const install = async (folder: string) => {
  const checkout = `${folder}/clone`;
  execFileSync("git", ["clone", "--quiet", root, checkout]);
  const ms = await timed(async () =>
    execFileSync("npm", ["ci", "--silent"], { cwd: checkout, stdio: "inherit" }),
  );
  return { checkout, seconds: Math.round(ms / 1_000) };
};

/**
 * Measures seconds from `npm run dev` to its ready system, first with an empty database and then again, and how long sixteen
 * requests take that arrive at once right after.
 *
 * @param options `clone`: in a fresh clone, whose `npm ci` is measured too.
 */
export const benchStart = async ({
  rounds,
  clone = false,
}: {
  rounds: number;
  clone?: boolean | undefined;
}): Promise<Result> =>
  withFolder(async (folder) => {
    const installed = clone ? await install(folder) : undefined;
    const start = () => startDev(installed?.checkout ?? root, `${folder}/data`);
    const first = await start();
    const again: Awaited<ReturnType<typeof startDev>>[] = [];
    while (again.length < rounds) again.push(await start());
    const rows: readonly (readonly [string, Measure])[] = [
      ["first start, s", measureOf([first.seconds])],
      ["again, s", measureOf(again.map(({ seconds }) => seconds))],
      [`${atOnce} requests at once, ms`, measureOf(again.map(({ burstMs }) => burstMs))],
    ];
    printTable(rows.map(([what, measure]) => ({ what, ...measure })));
    const figures = {
      rounds,
      ...(installed && { installSeconds: installed.seconds }),
      ...Object.fromEntries(rows),
    };
    return { bench: clone ? "start-clone" : "start", figures };
  });

/** Measures the seconds of a command of this checkout. @throws Error when it fails. */
const benchCommand = async (bench: string, command: readonly string[], rounds: number): Promise<Result> => {
  const [program = "", ...args] = command;
  const seconds: number[] = [];
  while (seconds.length < rounds)
    seconds.push((await timed(async () => execFileSync(program, args, { stdio: "ignore" }))) / 1_000);
  const measured = measureOf(seconds);
  printTable([{ "seconds of": bench, ...measured }]);
  return { bench, figures: { rounds, [`${bench}, s`]: measured } };
};

/** Measures the synthesis of a stage's templates. */
export const benchSynth = ({ rounds }: { rounds: number }): Promise<Result> =>
  withFolder((folder) =>
    benchCommand("synth", ["cdk", "synth", "--quiet", "--strict", "--output", folder], rounds),
  );

/** Measures `npm test`, or what else is given. */
export const benchSuite = (command: readonly string[] = ["npm", "test"]): Promise<Result> =>
  benchCommand("suite", command, 1);
