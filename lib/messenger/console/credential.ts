import { isSameText } from "#lib/same-text.ts";

export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** Whether any of the credentials matches, in constant time. */
export const matches = (credentials: readonly Credential[], presented: Credential): boolean =>
  credentials
    .map(({ username, password }) => {
      const sameName = isSameText(username, presented.username);
      const samePassword = isSameText(password, presented.password);
      return sameName && samePassword;
    })
    .includes(true);
