import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A system account, by its numbers. */
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
 * The account that the server runs under: PostgreSQL refuses root. A plain user keeps their own account
 * (undefined); root lends `postgres` where it exists, else `nobody`, so that no account is made.
 *
 * @throws Error on a machine that has neither.
 */
export const serverAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const account = findAccount("postgres") ?? findAccount("nobody");
  if (!account) throw new Error("PostgreSQL does not run as root: add an account named postgres");
  return account;
};

/** Whether the account may enter or execute the path and every folder on the way, as the mode bits say. */
export const canReach = (path: string, { uid, gid }: Account): boolean => {
  const { mode, uid: owner, gid: group } = statSync(path);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  const parent = dirname(path);
  return ((mode >> shift) & 1) === 1 && (parent === path || canReach(parent, { uid, gid }));
};
