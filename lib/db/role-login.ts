import type postgres from "postgres";
import { findSecret, readSecret } from "#lib/secrets/secret.ts";
import { Credentials } from "./credentials.ts";
import { logsIn, setPassword } from "./password.ts";

/**
 * Sees to it that a role logs in as its secret says. A password that works is left alone, also the coming one
 * of a rotation that is under way.
 *
 * @param sql connection of a role that may alter this one.
 * @returns whether the password had to be set.
 * @throws Error when the role cannot log in all the same.
 */
export const giveLogin = async (sql: postgres.Sql, role: string, secretId: string): Promise<boolean> => {
  const current = await readSecret(secretId, Credentials);
  if (current.username !== role) throw new Error(`secret ${secretId} is not that of the role ${role}`);
  if (await logsIn(current)) return false;
  const coming = await findSecret(secretId, Credentials, "AWSPENDING");
  if (coming && coming.password !== current.password && (await logsIn(coming))) return false;
  await setPassword(sql, role, current.password);
  if (await logsIn(current)) return true;
  throw new Error(`the role ${role} cannot log in with the password that it was given`);
};
