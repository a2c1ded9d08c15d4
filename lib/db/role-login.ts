import type postgres from "postgres";
import { findSecret, readSecret } from "#lib/secrets/secret.ts";
import { log } from "../log.ts";
import { Credentials } from "./credentials.ts";
import { logsIn, setPassword } from "./password.ts";
import { loginRoles } from "./roles.ts";

/*
 * A rotation sets the pending password on the server before Secrets Manager makes it the current one. A client that
 * connects in between, or after a rotation that failed there, needs the pending one.
 */

/** Returns a role's credentials: the pending ones if the server has rejected the current password. */
export const readCredentials = async (id: string, rejectedPassword?: string): Promise<Credentials> => {
  const current = await readSecret(id, Credentials);
  if (current.password !== rejectedPassword) return current;
  return (await findSecret(id, Credentials, "AWSPENDING")) ?? current;
};

/** Returns the credentials that the server accepts now, for a client that does not learn of a rejection. */
export const readWorkingCredentials = async (id: string): Promise<Credentials> => {
  const [current, pending] = await Promise.all([
    readSecret(id, Credentials),
    findSecret(id, Credentials, "AWSPENDING"),
  ]);
  if (!pending || pending.password === current.password) return current;
  return (await logsIn(current)) ? current : pending;
};

/**
 * Ensures that a role can log in with its secret. Does not change a password that works, including the pending one
 * of a rotation in progress.
 *
 * @param sql connection of a role that may alter this one.
 * @returns whether the password was set.
 * @throws Error if the role cannot log in even then.
 */
const ensureRoleLogin = async (sql: postgres.Sql, role: string, secretId: string): Promise<boolean> => {
  const current = await readSecret(secretId, Credentials);
  if (current.username !== role) throw new Error(`secret ${secretId} belongs to another role than ${role}`);
  if (await logsIn(current)) return false;
  const pending = await findSecret(secretId, Credentials, "AWSPENDING");
  if (pending && pending.password !== current.password && (await logsIn(pending))) return false;
  await setPassword(sql, role, current.password);
  if (await logsIn(current)) return true;
  throw new Error(`role ${role} cannot log in with the password that was set`);
};

/** Ensures that every role can log in with its secret. @param prefix of the secrets' names. */
export const ensureRoleLogins = async (sql: postgres.Sql, prefix: string): Promise<void> => {
  for (const [name, role] of Object.entries(loginRoles)) {
    const isNew = await ensureRoleLogin(sql, role, `${prefix}database/${name}`);
    log.info("the role logs in", { role, isNew });
  }
};
