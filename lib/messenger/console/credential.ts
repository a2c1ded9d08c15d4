import { isSameText } from "#lib/same-text.ts";

/** What an operator logs in with. */
export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** Whether one of the credentials was presented. The time tells neither which, nor what was wrong. */
export const matches = (credentials: readonly Credential[], presented: Credential): boolean =>
  credentials
    .map(({ username, password }) => {
      const sameName = isSameText(username, presented.username);
      const samePassword = isSameText(password, presented.password);
      return sameName && samePassword;
    })
    .includes(true);
