import { once } from "node:events";
import { createWriteStream, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { buildMessenger, watch } from "../build/build.ts";
import { announce, describeCity } from "./announcement.ts";
import { type City, startCity } from "./city.ts";
import { localFolder, removeDevFile, writeDevFile } from "./dev-file.ts";
import { takeLock } from "./lock.ts";
import { findPort } from "./loopback.ts";
import { destroyServer } from "./postgres/server.ts";

const usage = `Usage: npm run dev -- [--port N] [--messaging-port N] [--residents N] [--fresh] [--platform fake|real] [--folder DIR]

  --port N            port of the integration API (default: 3000, or any free port if 3000 is in use)
  --messaging-port N  port of the messaging API (default: 3001, or any free port if 3001 is in use)
  --residents N       minimum number of residents; invented ones are added (default: 5000)
  --platform NAME     fake: simulated messaging platform (default); real: pair a real phone in the console
  --fresh             delete the database and the secrets of earlier starts
  --folder DIR        data folder (default: .local, which the other commands use)`;

const defaultPorts = { port: 3_000, "messaging-port": 3_001 };

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      "messaging-port": { type: "string" },
      residents: { type: "string", default: "5000" },
      fresh: { type: "boolean", default: false },
      platform: { type: "string", default: "fake" },
      folder: { type: "string", default: localFolder },
      help: { type: "boolean", default: false },
    },
  });
  const whole = (name: string, text: string, maximum: number) => {
    if (/^\d{1,9}$/.test(text) && Number(text) <= maximum) return Number(text);
    throw new Error(`--${name} must be a whole number up to ${maximum}, not ${text}`);
  };
  const wantedPort = (name: keyof typeof defaultPorts) =>
    values[name] === undefined ? undefined : whole(name, values[name], 65_535);
  const platform = (["fake", "real"] as const).find((known) => known === values.platform);
  if (!platform) throw new Error(`--platform must be fake or real, not ${values.platform}`);
  return {
    platform,
    port: wantedPort("port"),
    "messaging-port": wantedPort("messaging-port"),
    residents: whole("residents", values.residents, 100_000_000),
    fresh: values.fresh,
    folder: resolve(values.folder),
    help: values.help,
  };
};

/** Falls back to any free port if the default is in use. A requested port must be free. */
const choosePort = async (name: keyof typeof defaultPorts, wanted: number | undefined): Promise<number> => {
  try {
    return await findPort(wanted ?? defaultPorts[name]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    if (wanted !== undefined) throw new Error(`Port ${wanted} is in use. Choose another one with --${name}.`);
    return findPort();
  }
};

/** Watches the functions. The messenger is built only once, because a restart would interrupt its deliveries. */
const firstBuild = async (onRebuilt: (errors: number) => void) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let built = false;
  const context = await watch((errors) => {
    for (const { text, location } of errors)
      console.error(styleText("red", `${location?.file ?? ""}:${location?.line ?? ""} ${text}`));
    if (built) onRebuilt(errors.length);
    else if (errors.length > 0) reject(new Error("The functions do not build."));
    else resolve();
    built = true;
  });
  await Promise.all([promise, buildMessenger()]);
  return context;
};

const main = async () => {
  const { folder, ...options } = readOptions();
  if (options.help) return console.log(usage);
  const started = performance.now();
  const lock = takeLock(`${folder}/dev.pid`, "dev.ts");
  if ("holder" in lock)
    throw new Error(
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

  try {
    if (options.fresh) {
      await destroyServer(`${folder}/postgres`);
      rmSync(`${folder}/secrets.json`, { force: true });
    }
    const port = await choosePort("port", options.port);
    const messagingPort = await choosePort("messaging-port", options["messaging-port"]);
    let city: City | undefined;
    const builder = await firstBuild((errors) => {
      if (errors === 0) city?.reload();
      console.log(errors === 0 ? "rebuilt" : "build failed; the previous build stays in use");
    });
    stops.push(() => builder.dispose());
    const logFile = createWriteStream(`${folder}/functions.log`, { flags: "w", mode: 0o600 });
    stops.push(() => logFile.end());

    city = await startCity({
      folder,
      port,
      messagingPort,
      messenger: options.platform,
      residents: options.residents,
      durable: true,
      scheduled: true,
      limitsAddresses: true,
      signal: interruption.signal,
      onAccess: (line) => console.log(line),
      onLog: (fn, line) => {
        logFile.write(`${line}\n`);
        if (/"level":"(warn|error)"/.test(line)) console.error(styleText("yellow", `${fn} ${line}`));
      },
      onStep: (step) => console.log(`${step} …`),
    });
    stops.push(city.stop);
    const described = describeCity(city);
    writeDevFile(folder, described);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    announce(described, relative(".", `${folder}/functions.log`), seconds);
    if (!interruption.signal.aborted) await once(interruption.signal, "abort");
    console.log("\nstopping …");
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
  } finally {
    await stop();
  }
};

await main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(styleText("red", error.message));
    process.exit(1);
  },
);
