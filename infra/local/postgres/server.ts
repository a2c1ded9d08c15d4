import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { logSettings } from "#lib/db/deployment.ts";
import { findPort } from "../loopback.ts";
import { choosePlace, type Place, removeData } from "./installation.ts";

export interface ServerOptions {
  /** Folder of the data; created if it is missing. */
  readonly folder: string;
  /** Password of the superuser `postgres`, set when the data is created. */
  readonly superuserPassword: string;
  /** False is faster, but a crash may lose the data. */
  readonly durable: boolean;
  /** Additional parameters, such as `shared_buffers`. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Folder with the programs of another version. Default: those from npm. */
  readonly programs?: string | undefined;
  /** Receives each line of the server's log. */
  readonly onLog?: ((line: string) => void) | undefined;
}

const env = { LC_ALL: "C", TZ: "UTC" };

/** Runs one of the programs. @throws Error with its output if it fails. */
const run = ({ programs, account }: Place, program: string, args: string[]) =>
  promisify(execFile)(join(programs, program), args, { ...account, cwd: "/", env }).catch((cause) => {
    throw new Error(`${program} failed: ${cause.stdout}${cause.stderr}`.trim(), { cause });
  });

/** Creates the data in a temporary folder and moves it, so that it is never incomplete. */
const initialize = async (place: Place, password: string) => {
  const { data, account } = place;
  const partial = `${data}.partial`;
  const passwordFile = `${data}.password`;
  fs.rmSync(partial, { recursive: true, force: true });
  fs.mkdirSync(partial, { mode: 0o700 });
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [partial, passwordFile]) fs.chownSync(path, account.uid, account.gid);
  // UTF-8 in C order; lower-casing of names specifies an ICU collation
  await run(place, "initdb", [
    `--pgdata=${partial}`,
    "--username=postgres",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ]).finally(() => fs.rmSync(passwordFile));
  fs.renameSync(partial, data);
};

/** Stops a server that is still running after its starter was killed. */
const endLeftover = async (place: Place) => {
  const pidFile = join(place.data, "postmaster.pid");
  if (!fs.existsSync(pidFile)) return;
  const pid = Number(fs.readFileSync(pidFile, "utf8").split("\n")[0]);
  if (isServer(pid, place.data))
    await run(place, "pg_ctl", ["stop", "-D", place.data, "-m", "fast", "-w", "-t", "20"]);
};

/** Whether the process is the server of this data. Its ID may have been reused. */
const isServer = (pid: number, data: string): boolean => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(data);
  } catch {
    return !fs.existsSync("/proc/self"); // without /proc, pg_ctl has to find out
  }
};

const launch = async (
  place: Place,
  port: number,
  { durable, settings: more, onLog = () => {} }: ServerOptions,
): Promise<ChildProcess> => {
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "200",
    log_min_messages: "warning",
    ...logSettings,
    ...(!durable && { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(join(place.programs, "postgres"), ["-D", place.data, ...args], {
    ...place.account,
    cwd: "/",
    detached: true, // so that Ctrl-C does not stop it before its clients
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  await untilReady(child, onLog);
  return child;
};

/** Resolves when the server logs that it is ready, which `log_min_messages` does not suppress. */
const untilReady = async (child: ChildProcess, onLog: (line: string) => void) => {
  if (!child.stderr) throw new Error("postgres was started without a log");
  const printed: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  createInterface(child.stderr)
    .on("line", (line) => {
      onLog(line);
      if (printed.push(line) > 50) printed.shift();
      if (line.includes("ready to accept connections")) resolve();
    })
    .once("close", () => reject(new Error(`postgres did not start: ${printed.join("\n")}`)));
  await promise;
};

/** Prevents a folder with other contents from being used or removed. */
const requireDatabase = (folder: string) => {
  if (
    !fs.existsSync(folder) ||
    fs.readdirSync(folder).length === 0 ||
    fs.existsSync(join(folder, "PG_VERSION"))
  )
    return;
  throw new Error(`${folder} contains something other than a database. Choose another folder.`);
};

/** Stops a running server of a folder and removes its data. */
export const destroyServer = async (folder: string): Promise<void> => {
  requireDatabase(folder);
  if (!fs.existsSync(folder)) return;
  await endLeftover(choosePlace(folder));
  removeData(folder);
};

/** Starts PostgreSQL on loopback. Creates its data if necessary and stops a server that is still running on it. */
export const startServer = async (options: ServerOptions) => {
  requireDatabase(options.folder);
  const place = choosePlace(options.folder, options.programs);
  if (fs.existsSync(join(place.data, "PG_VERSION"))) await endLeftover(place);
  else await initialize(place, options.superuserPassword);
  const port = await findPort();
  let child: ChildProcess | undefined;
  const start = async () => {
    child = await launch(place, port, options);
  };
  await start();
  return {
    port,
    /** Starts it again on the same port. */
    start,
    /** Stops it: `fast` closes connections and shuts down cleanly, `immediate` is a crash. */
    async stop(mode: "fast" | "immediate" = "fast") {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
      await exited;
      child = undefined;
    },
    /** Returns the ID of the main process. */
    pid: (): number => {
      if (!child?.pid) throw new Error("the database is stopped");
      return child.pid;
    },
  };
};
