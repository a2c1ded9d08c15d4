import { digestToken, mintToken } from "#lib/opaque-token.ts";
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

/** A working day. There is no idle timeout: the page polls every two seconds. */
const lifetimeMs = 8 * 60 * 60 * 1_000;
const maxLogins = 100;
const cookieName = "console";

export interface Notice {
  readonly kind: "done" | "failed";
  readonly text: string;
}

export interface OperatorLogin {
  readonly username: string;
  readonly endsAt: number;
  notice: Notice | undefined;
}

/*
 * No `Secure`: the task serves plain HTTP behind a forwarded port, where some browsers reject such a cookie.
 * Cookies are shared between ports, so origin.ts checks the origin as well.
 */
const formatCookie = (value: string, maxAgeSeconds: number): string =>
  `${cookieName}=${value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`;

const findToken = (cookies: string | undefined): string | undefined =>
  cookies
    ?.split(";")
    .map((cookie) => cookie.trim().split("="))
    .find(([name]) => name === cookieName)?.[1];

/** Logins in the memory of this task: a restart logs everybody out. */
export class OperatorLogins {
  readonly #now: () => number;
  // by digest: the time of a lookup reveals nothing about the token
  readonly #logins = new Map<string, OperatorLogin>();

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(username: string): string {
    const token = mintToken("");
    const [oldest] = this.#logins.keys();
    if (this.#logins.size >= maxLogins && oldest !== undefined) this.#logins.delete(oldest);
    const login = { username, endsAt: this.#now() + lifetimeMs, notice: undefined };
    this.#logins.set(digestToken(token).toString("hex"), login);
    return formatCookie(token, lifetimeMs / 1_000);
  }

  /** @param cookies the request's `Cookie` header. */
  find(cookies: string | undefined): OperatorLogin | undefined {
    const token = findToken(cookies);
    if (token === undefined) return undefined;
    const key = digestToken(token).toString("hex");
    const login = this.#logins.get(key);
    if (login && login.endsAt > this.#now()) return login;
    this.#logins.delete(key);
    return undefined;
  }

  /** @returns a cookie that deletes the login's. */
  end(cookies: string | undefined): string {
    this.#logins.delete(digestToken(findToken(cookies) ?? "").toString("hex"));
    return formatCookie("", 0);
  }
}
