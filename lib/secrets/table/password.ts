import { Credentials } from "#lib/db/credentials.ts";
import { logsIn, setPassword, withLogin } from "#lib/db/password.ts";

/**
 * Sets the new password of a database role, as that role: no rotation needs the administrator. Does nothing if it is
 * set already.
 *
 * @param known values that may be valid now, the most likely one first.
 * @throws Error when none of them is.
 */
export const installPassword = async (next: unknown, known: readonly unknown[]): Promise<void> => {
  const credentials = Credentials.parse(next);
  if (await logsIn(credentials)) return;
  for (const value of known) {
    const { data: former } = Credentials.safeParse(value);
    if (!former || !(await logsIn(former))) continue;
    return withLogin(former, (sql) => setPassword(sql, credentials.username, credentials.password));
  }
  throw new Error("the database rejects every password of the secret; the migration sets a new one");
};

/** @throws Error when the database rejects the new password. */
export const testPassword = async (next: unknown): Promise<void> => {
  if (!(await logsIn(Credentials.parse(next)))) throw new Error("the database rejects the new password");
};
