import { lazy } from "#lib/cached.ts";
import { hashPassword, isPasswordOf } from "#lib/password-hash.ts";
import type { Operator, Role } from "./roles.ts";

/** An operator whose password the console checks itself. */
export interface LocalUser {
  readonly username: string;
  readonly role: Role;
  /** See {@link hashPassword}. */
  readonly hash: string;
}

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** Checked for an unknown name, so that the time does not reveal which names exist. */
const unusedHash = lazy(() => hashPassword(""));

const toOperator = ({ username, role, hash }: LocalUser): Operator => ({
  id: username,
  name: username,
  role,
  hash,
});

/** @returns undefined if the operator was removed or has another password since the login. */
export const findAgain = (users: readonly LocalUser[], { id, hash }: Operator): Operator | undefined => {
  const user = users.find((one) => one.username === id && one.hash === hash);
  return user && toOperator(user);
};

/** @returns undefined if name or password is wrong. */
export const findOperator = async (
  users: readonly LocalUser[],
  { username, password }: Credential,
): Promise<Operator | undefined> => {
  const user = users.find((one) => one.username === username);
  const isRight = await isPasswordOf(user?.hash ?? (await unusedHash()), password);
  return user && isRight ? toOperator(user) : undefined;
};
