import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { Load } from "./load.ts";
import { openSuperuser, type Scene } from "./scene.ts";
import { judge, type Verdict } from "./verdict.ts";

const timeoutMs = 90_000;

/*
 * A power cut, without a disk that can lose what was not flushed: the database's processes are killed; of the log
 * (WAL) everything after its last flush becomes zeros; all other files become those of the last checkpoint.
 */

/** The main process and those that it has started. */
const listProcesses = (main: number): number[] => [
  main,
  ...fs
    .readFileSync(`/proc/${main}/task/${main}/children`, "utf8")
    .trim()
    .split(" ")
    .filter((text) => text !== "")
    .map(Number),
];

const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);

/** A checkpoint, and a copy of what it has flushed. There is no other until the cut. */
const flushAll = async (sql: postgres.Sql): Promise<string> => {
  await sql`alter system set checkpoint_timeout = '1h'`;
  await sql`select pg_reload_conf()`;
  await sql`checkpoint`;
  const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
  if (!row) throw new Error("the server names no folder");
  fs.rmSync(`${row.folder}.flushed`, { recursive: true, force: true });
  copy(row.folder, `${row.folder}.flushed`);
  return row.folder;
};

/** Where the log was flushed to while all other processes stand still. */
const findFlushed = async (sql: postgres.Sql, main: number) => {
  const look = () => sql<{ pid: number; name: string; offset: number }[]>`
    select pg_backend_pid() as pid, file_name as name, file_offset as offset
    from pg_walfile_name_offset(pg_current_wal_flush_lsn())`;
  // the first look loads what the second needs, for which it might wait for one that stands still
  const [own] = await look();
  for (const pid of listProcesses(main)) if (pid !== own?.pid) process.kill(pid, "SIGSTOP");
  const [at] = await look();
  if (!at) throw new Error("the server does not say where its log ends");
  return at;
};

/** Cuts the power of the database, and gives it back. @param folder as `flushAll` returned it. */
const cutPower = async ({ database: { server } }: Scene, sql: postgres.Sql, folder: string) => {
  const main = server.pid();
  const { name, offset } = await findFlushed(sql, main);
  const gone = listProcesses(main);
  for (const pid of gone) process.kill(pid, "SIGKILL");
  await sql.end({ timeout: 0 });
  await server.stop();
  fs.rmSync(`${folder}.flushed/pg_wal`, { recursive: true });
  fs.renameSync(`${folder}/pg_wal`, `${folder}.flushed/pg_wal`);
  fs.rmSync(folder, { recursive: true });
  fs.renameSync(`${folder}.flushed`, folder);
  fs.rmSync(join(folder, "postmaster.pid"), { force: true });
  const log = join(folder, "pg_wal");
  for (const file of fs.readdirSync(log))
    if (/^[0-9A-F]{24}$/.test(file) && file > name) fs.rmSync(join(log, file));
  const segment = fs.openSync(join(log, name), "r+");
  const size = fs.fstatSync(segment).size;
  fs.writeSync(segment, Buffer.alloc(size - offset), 0, size - offset, offset);
  fs.closeSync(segment);
  await server.start();
};

/** Cuts the power while messages are accepted and sent. */
export const losePower = async (scene: Scene, messages: number): Promise<Verdict> => {
  const { platform, fleet } = scene;
  await fleet.grow(1);
  const sql = openSuperuser(scene.store, scene.database.server.port);
  const folder = await flushAll(sql);
  const load = new Load(scene, { messages, backlog: 30 });
  await platform.until(() => load.arrived() >= messages / 2, timeoutMs);
  load.hurry(20);
  await cutPower(scene, sql, folder);
  return judge(scene, load, timeoutMs);
};

/**
 * Cuts the power after messages were accepted, while nothing is sent.
 *
 * @param commit whether an accepted message waits until it is flushed, as in the product.
 * @returns how many of the accepted messages are lost.
 */
export const countLost = async (scene: Scene, messages: number, commit: "on" | "off"): Promise<number> => {
  const sql = openSuperuser(scene.store, scene.database.server.port);
  await sql`update messaging.control set paused = true`;
  await sql.unsafe(`alter system set synchronous_commit = ${commit}`);
  await sql`alter system set wal_writer_delay = '10s'`;
  const folder = await flushAll(sql);
  const load = new Load(scene, { messages });
  await load.done;
  await cutPower(scene, sql, folder);
  const ids = load.accepted.map(({ id }) => id).join();
  const found = await scene.sql`select from messaging.message where id = any(string_to_array(${ids}, ','))`;
  return load.accepted.length - found.length;
};
