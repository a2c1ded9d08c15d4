import { createHash, timingSafeEqual } from "node:crypto";

/** What an operator logs in with. */
export interface Credential {
  readonly username: string;
  readonly password: string;
}

const digest = (text: string) => createHash("sha256").update(text).digest();

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** Whether one of the credentials was presented. The time tells neither which, nor what was wrong. */
export const matches = (credentials: readonly Credential[], presented: Credential): boolean =>
  credentials
    .map(({ username, password }) => {
      const sameName = isSame(username, presented.username);
      const samePassword = isSame(password, presented.password);
      return sameName && samePassword;
    })
    .includes(true);
