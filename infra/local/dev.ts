import { once } from "node:events";
import { createWriteStream, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { styleText } from "node:util";
import { quoteWord } from "#lib/shell-word.ts";
import { buildMessenger, watch } from "../build/build.ts";
import { CommandError, command, readWhole, WrongCall } from "../cli/command.ts";
import { announce, describeCity } from "./announcement.ts";
import { type City, startCity } from "./city.ts";
import { localFolder, removeDevFile, writeDevFile } from "./dev-file.ts";
import { takeLock } from "./lock.ts";
import { checkPort, findPort } from "./loopback.ts";
import { destroyServer } from "./postgres/server.ts";

/** The same at each start, so that addresses in a browser and in scripts stay valid. */
const defaultPorts = { port: 3_000, "messaging-port": 3_001, "console-port": 3_002, "platform-port": 3_003 };

type PortName = keyof typeof defaultPorts;

interface DevOptions
  extends Readonly<Partial<Record<"port" | "messagingPort" | "consolePort" | "platformPort", number>>> {
  readonly residents: number;
  readonly fresh: boolean;
  readonly platform: "fake" | "real";
  readonly folder: string;
  readonly json?: true | undefined;
}

/** Falls back to any free port if the default is in use. A requested port must be free. */
const choosePort = async (
  name: PortName,
  wanted: number | undefined,
  taken: readonly number[],
): Promise<number> => {
  try {
    const port = wanted ?? defaultPorts[name];
    return await (port === 0 || taken.includes(port) ? findPort() : checkPort(port));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (wanted !== undefined)
      throw new CommandError(`Port ${wanted} is in use. Choose another one with --${name}.`);
    const other = await findPort();
    console.error(
      `Port ${defaultPorts[name]} is in use: ${other} takes its place. --${name} chooses another one.`,
    );
    return other;
  }
};

const readPlatform = (name: string): DevOptions["platform"] => {
  if (name === "fake" || name === "real") return name;
  throw new WrongCall(`--platform must be fake or real, not ${name}`);
};

const choosePorts = async ({ port, messagingPort, consolePort, platformPort }: DevOptions) => {
  const integration = await choosePort("port", port, []);
  const messaging = await choosePort("messaging-port", messagingPort, [integration]);
  const console = await choosePort("console-port", consolePort, [integration, messaging]);
  const platform = await choosePort("platform-port", platformPort, [integration, messaging, console]);
  return { port: integration, messagingPort: messaging, ports: { console, platform } };
};

/** Watches the functions. The messenger is built only once, because a restart would interrupt its deliveries. */
const firstBuild = async (onRebuilt: (errors: number) => void) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let built = false;
  const context = await watch((errors) => {
    for (const { text, location } of errors)
      console.error(styleText("red", `${location?.file ?? ""}:${location?.line ?? ""} ${text}`));
    if (built) onRebuilt(errors.length);
    else if (errors.length > 0) reject(new CommandError("The functions do not build."));
    else resolve();
    built = true;
  });
  await Promise.all([promise, buildMessenger()]);
  return context;
};

const lockCheckMs = 500;

/** Calls back when the data folder is deleted, which also deletes the lock. @returns a function that ends the watch. */
const watchLock = (isHeld: () => boolean, onLost: () => void): (() => void) => {
  const timer = setInterval(() => {
    if (!isHeld()) onLost();
  }, lockCheckMs);
  return () => clearInterval(timer);
};

const runSystem = async (options: DevOptions, print: (line: string) => void) => {
  const folder = resolve(options.folder);
  const started = performance.now();
  const lock = takeLock(`${folder}/dev.pid`);
  if ("holder" in lock)
    throw new CommandError(
      `npm run dev is already running (process ${lock.holder}). Its addresses are in ${folder}/dev.json.`,
    );
  removeDevFile(folder);

  const stops: (() => unknown)[] = [lock.release, () => removeDevFile(folder)];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interruption.abort());
  // a closed terminal or pipe must not prevent an orderly stop
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let lost = false;
  const endWatch = watchLock(lock.isHeld, () => {
    lost = true;
    interruption.abort();
  });
  stops.push(endWatch);

  try {
    if (options.fresh) {
      await destroyServer(`${folder}/postgres`);
      for (const file of ["secrets.json", "audit-anchors.json"]) rmSync(`${folder}/${file}`, { force: true });
    }
    let city: City | undefined;
    // while the database starts
    const building = firstBuild((errors) => {
      if (errors === 0) city?.reload();
      print(errors === 0 ? "rebuilt" : "build failed; the previous build stays in use");
    });
    const unbuilt = new AbortController();
    building.catch((error: unknown) => unbuilt.abort(error));
    stops.push(() =>
      building.then(
        (builder) => builder.dispose(),
        () => {},
      ),
    );
    const ports = await choosePorts(options);
    const logFile = createWriteStream(`${folder}/functions.log`, { flags: "w", mode: 0o600 });
    stops.push(() => logFile.end());

    city = await startCity({
      folder,
      ...ports,
      messenger: options.platform,
      residents: options.residents,
      durable: true,
      scheduled: true,
      limitsAddresses: true,
      signal: AbortSignal.any([interruption.signal, unbuilt.signal]),
      built: building,
      onAccess: print,
      onLog: (fn, line) => {
        logFile.write(`${line}\n`);
        if (/"level":"(warn|error)"/.test(line)) console.error(styleText("yellow", `${fn} ${line}`));
      },
      onMessengerEnd: () => {
        if (!interruption.signal.aborted)
          console.error(styleText("red", "the messenger has ended; starting it again …"));
      },
      onStep: (step) => print(`${step} …`),
    });
    stops.push(city.stop);
    const described = describeCity(city);
    writeDevFile(folder, described);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    if (options.json) console.log(JSON.stringify(described, null, 2));
    else announce(described, relative(".", `${folder}/functions.log`), seconds);
    if (resolve(folder) !== localFolder)
      print(`In the terminal of other commands: export LOCAL_FOLDER=${quoteWord(resolve(folder))}`);
    if (!interruption.signal.aborted) await once(interruption.signal, "abort");
    print("\nstopping …");
  } catch (error) {
    // a person starts this: the sentence helps, a stack does not
    if (!interruption.signal.aborted)
      throw error instanceof CommandError ? error : new CommandError((error as Error).message);
  } finally {
    await stop();
  }
  if (lost)
    throw new CommandError(
      `The folder ${folder} was deleted while npm run dev was using it, with the database and the keys. ` +
        "To create new ones, run npm run dev again.",
    );
};

const run = command(
  "dev",
  "Start the whole system on this machine, with invented data.",
  (program, _, print) => {
    const port = (name: PortName, of: string) =>
      [
        `--${name} <port>`,
        `port of ${of} (default: ${defaultPorts[name]}, or any free one if that is in use)`,
        readWhole(`--${name}`, 0, 65_535),
      ] as const;
    program
      .option(...port("port", "the integration API"))
      .option(...port("messaging-port", "the messaging API"))
      .option(...port("console-port", "the console"))
      .option(...port("platform-port", "the simulated platform"))
      .option(
        "--residents <number>",
        "minimum number of residents; invented ones are added",
        readWhole("--residents", 0, 100_000_000),
        5_000,
      )
      .option(
        "--platform <name>",
        "fake: simulated messaging platform; real: pair a real phone in the console",
        readPlatform,
        "fake" as const,
      )
      .option("--fresh", "delete the database and the secrets of earlier starts", false)
      .option("--folder <folder>", "data folder; for the other commands, set LOCAL_FOLDER to it", localFolder)
      .action(async (options) => runSystem({ ...options, ...program.opts() }, print));
  },
);

process.exit(await run(process.argv.slice(2)));
