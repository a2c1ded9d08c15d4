import { Credentials } from "#lib/db/credentials.ts";
import { logsIn, setPassword, withLogin } from "#lib/db/password.ts";

/**
 * Has a database role set its own new password: no rotation needs the administrator's. Does nothing when it is
 * set already.
 *
 * @param known values that may work now, the likeliest first.
 * @throws Error when none of them does.
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
