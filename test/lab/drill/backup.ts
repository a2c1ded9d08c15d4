import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { type Account, choosePlace } from "../../../infra/local/postgres/installation.ts";

/*
 * A physical backup by PostgreSQL's own functions, and the log (WAL) that is archived from then on.
 * @see https://www.postgresql.org/docs/18/continuous-archiving.html
 */

/** Folders whose content the server makes again when it starts. */
const emptied = [
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_subtrans",
];
const left = /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*)$/;

const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Copies a folder of which the server may remove files meanwhile: what it removes is in the log. */
const copy = (from: string, to: string, depth = 0): void => {
  fs.mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    if (left.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (!entry.isDirectory()) fs.copyFileSync(source, target);
      else if (depth === 0 && emptied.includes(entry.name)) fs.mkdirSync(target, { mode: 0o700 });
      else copy(source, target, depth + 1);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
};

const own = (folder: string, account: Account | undefined) => {
  if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
};

const plain = (path: string) => path.replaceAll("%", "%%");

/** Where the backup and the archived log are, outside of the server's data. */
export const openArchive = (folder: string) => {
  const { data: log } = choosePlace(join(folder, "log"));
  const { data: base, account } = choosePlace(join(folder, "base"));
  return {
    /** Settings of a server that archives its log. */
    archiving: {
      archive_mode: "on",
      archive_command: `/bin/cp "%p" '${plain(log)}/%f.partial' && /bin/mv '${plain(log)}/%f.partial' '${plain(log)}/%f'`,
    },
    /** Settings of a server that starts from a copy of the backup. */
    recovering: { restore_command: `/bin/cp '${plain(log)}/%f' '%p'` },
    /**
     * Copies the data of a running server.
     *
     * @param sql one connection of the superuser.
     */
    async backUp(sql: postgres.Sql): Promise<void> {
      const [place] = await sql<{ data: string }[]>`
        select current_setting('data_directory') as data, pg_backup_start('drill', true)`;
      if (!place) throw new Error("the server names no folder");
      copy(place.data, base);
      const [end] = await sql<{ label: string; tablespaces: string }[]>`
        select labelfile as label, spcmapfile as tablespaces from pg_backup_stop()`;
      fs.writeFileSync(join(base, "backup_label"), end?.label ?? "");
      if (end?.tablespaces) fs.writeFileSync(join(base, "tablespace_map"), end.tablespaces);
      own(base, account);
    },
    /** Ends the current segment of the log, and waits until it is archived. */
    async archiveLog(sql: postgres.Sql): Promise<void> {
      const [segment] = await sql<{ name: string }[]>`select pg_walfile_name(pg_switch_wal()) as name`;
      while (!fs.existsSync(join(log, segment?.name ?? ""))) await setTimeout(20);
    },
    /** Puts a copy of the backup where a server can start from it and replay the archived log. */
    restore(to: string): void {
      const { data } = choosePlace(to);
      copy(base, data);
      fs.writeFileSync(join(data, "recovery.signal"), "");
      own(data, account);
    },
  };
};

export type Archive = ReturnType<typeof openArchive>;
