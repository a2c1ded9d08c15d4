import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findPort } from "../port.ts";
import { choosePlace, type Place, removeData } from "./place.ts";

/** A PostgreSQL server of our own, on loopback, from the programs of an npm package. */
export interface Server {
  readonly port: number;
  /** Starts it again on the same port after `stop()`. */
  start(): Promise<void>;
  /** Stops it: `fast` ends the connections and waits for a clean shutdown, `immediate` is a crash. */
  stop(mode?: "fast" | "immediate"): Promise<void>;
  /** The main process, for tests that make it hang. */
  pid(): number;
}

export interface ServerOptions {
  /** Folder of the data; made when it is missing. */
  readonly folder: string;
  /** Password of the superuser `postgres`, set when the data is made. */
  readonly superuserPassword: string;
  /** False trades durability for speed: for data that nobody will miss. */
  readonly durable: boolean;
  /** Parameters besides ours, such as `shared_buffers`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const superuser = "postgres";

/** Runs one of the programs to its end. @throws Error with what it printed when it fails. */
const run = async ({ programs, account }: Place, program: string, args: string[]) => {
  const child = spawn(join(programs, program), args, {
    ...account,
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC" },
  });
  const printed: Buffer[] = [];
  child.stdout.on("data", (chunk) => printed.push(chunk));
  child.stderr.on("data", (chunk) => printed.push(chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} failed: ${Buffer.concat(printed).toString().trim()}`);
};

/** Makes the data beside its place and moves it there whole, so that a kill leaves nothing half made. */
const initialize = async ({ data, account, ...place }: Place, password: string) => {
  const partial = `${data}.partial`;
  const passwordFile = `${data}.password`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [partial, passwordFile]) chownSync(path, account.uid, account.gid);
  // UTF-8 with C order; the lower-casing of names gives its own ICU collation
  await run({ data, account, ...place }, "initdb", [
    `--pgdata=${partial}`,
    `--username=${superuser}`,
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ]).finally(() => rmSync(passwordFile));
  renameSync(partial, data);
};

/** Ends a server that an earlier start left behind when it was killed. */
const endLeftover = async (place: Place) => {
  const pidFile = join(place.data, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  if (isServer(pid, place.data))
    await run(place, "pg_ctl", ["stop", "-D", place.data, "-m", "fast", "-w", "-t", "20"]);
};

/** Whether the process is the server of this data: its number may have gone to another one since. */
const isServer = (pid: number, data: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(data);
  } catch {
    return !existsSync("/proc/self"); // no /proc to ask: let pg_ctl find out
  }
};

const launch = async (
  place: Place,
  port: number,
  { durable, settings: more }: ServerOptions,
): Promise<ChildProcess> => {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "200",
    log_min_messages: "warning",
    // a statement may hold a name or a number: none is logged, nor the row that an error is about
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(!durable && { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(place.programs, "postgres"), ["-D", place.data, ...args], {
    ...place.account,
    cwd: "/",
    detached: true, // a Ctrl-C in the terminal is ours to handle, in order
    stdio: ["ignore", "ignore", "pipe"],
    env: { LC_ALL: "C", TZ: "UTC" },
  });
  await untilReady(child);
  return child;
};

/** Resolves at the server's own word, which `log_min_messages` cannot hide. */
const untilReady = async (child: ChildProcess) => {
  const printed: string[] = [];
  if (!child.stderr) throw new Error("postgres was started without a log");
  for await (const line of createInterface(child.stderr)) {
    if (printed.push(line) > 50) printed.shift();
    if (line.includes("ready to accept connections")) {
      child.stderr.resume();
      return;
    }
  }
  throw new Error(`postgres did not start: ${printed.join("\n")}`);
};

/** Nothing that is not a database of ours is taken over, let alone removed. */
const refuseForeign = (folder: string) => {
  if (!existsSync(folder) || readdirSync(folder).length === 0 || existsSync(join(folder, "PG_VERSION")))
    return;
  throw new Error(`${folder} contains something other than a database. Choose another folder.`);
};

/** Ends the server of a folder, if one was left behind, and removes its data. */
export const destroyServer = async (folder: string): Promise<void> => {
  refuseForeign(folder);
  if (!existsSync(folder)) return;
  await endLeftover(choosePlace(folder));
  removeData(folder);
};

/** Makes the data when it is missing, ends what an earlier start left behind, and starts the server. */
export const startServer = async (options: ServerOptions): Promise<Server> => {
  refuseForeign(options.folder);
  const place = choosePlace(options.folder);
  if (existsSync(join(place.data, "PG_VERSION"))) await endLeftover(place);
  else await initialize(place, options.superuserPassword);
  const port = await findPort();
  let child: ChildProcess | undefined;
  const start = async () => {
    child = await launch(place, port, options);
  };
  await start();
  return {
    port,
    start,
    async stop(mode = "fast") {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
      await exited;
      child = undefined;
    },
    pid: () => {
      if (!child?.pid) throw new Error("the database is stopped");
      return child.pid;
    },
  };
};
