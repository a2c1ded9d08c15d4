import { lazy } from "#lib/lazy.ts";
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

/** @returns undefined if name or password is wrong. */
export const findOperator = async (
  users: readonly LocalUser[],
  { username, password }: Credential,
): Promise<Operator | undefined> => {
  const user = users.find((one) => one.username === username);
  const isRight = await isPasswordOf(user?.hash ?? (await unusedHash()), password);
  return user && isRight ? { name: user.username, role: user.role } : undefined;
};
