import type postgres from "postgres";
import { findSecret, readSecret } from "#lib/secrets/secret.ts";
import { Credentials } from "./credentials.ts";
import { logsIn, setPassword } from "./password.ts";

/*
 * A rotation gives the server the coming password before Secrets Manager calls it the current one. Whoever
 * connects in between, or after a rotation that broke off there, needs the coming one.
 */

/** A role's credentials: the current ones, or the coming ones when the server has refused the current password. */
export const readCredentials = async (id: string, refusedPassword?: string): Promise<Credentials> => {
  const current = await readSecret(id, Credentials);
  if (current.password !== refusedPassword) return current;
  return (await findSecret(id, Credentials, "AWSPENDING")) ?? current;
};

/** A role's credentials that the server takes now, for whoever is not told that it refused others. */
export const readWorkingCredentials = async (id: string): Promise<Credentials> => {
  const [current, coming] = await Promise.all([
    readSecret(id, Credentials),
    findSecret(id, Credentials, "AWSPENDING"),
  ]);
  if (!coming || coming.password === current.password) return current;
  return (await logsIn(current)) ? current : coming;
};

/**
 * Ensures that a role can log in with its secret. Does not change a password that works, including the pending one
 * of a rotation in progress.
 *
 * @param sql connection of a role that may alter this one.
 * @returns whether the password was set.
 * @throws Error if the role cannot log in even then.
 */
export const ensureRoleLogin = async (
  sql: postgres.Sql,
  role: string,
  secretId: string,
): Promise<boolean> => {
  const current = await readSecret(secretId, Credentials);
  if (current.username !== role) throw new Error(`secret ${secretId} belongs to another role than ${role}`);
  if (await logsIn(current)) return false;
  const coming = await findSecret(secretId, Credentials, "AWSPENDING");
  if (coming && coming.password !== current.password && (await logsIn(coming))) return false;
  await setPassword(sql, role, current.password);
  if (await logsIn(current)) return true;
  throw new Error(`role ${role} cannot log in with the password that was set`);
};
