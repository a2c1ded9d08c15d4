import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

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
export const serverAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const account = findAccount("postgres") ?? findAccount("nobody");
  if (!account) throw new Error("PostgreSQL does not run as root: add an account named postgres");
  return account;
};

/** Whether the account can execute a program or enter a folder. */
export const canReach = (path: string, account: Account): boolean =>
  spawnSync("test", ["-x", path], { ...account, cwd: "/" }).status === 0;
