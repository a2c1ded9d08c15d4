import { findSecret, readSecret } from "#lib/secrets/secret.ts";
import { Credentials } from "./credentials.ts";
import { logsIn } from "./password.ts";

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
