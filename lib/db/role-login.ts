import type postgres from "postgres";
import { findSecret, readSecret } from "#lib/secrets/secret.ts";
import { Credentials } from "./credentials.ts";
import { logsIn, setPassword } from "./password.ts";

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
