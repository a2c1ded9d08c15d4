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

const idleTimeoutMs = 15 * 60 * 1_000;
/** A working day. */
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
  activeAt: number;
  notice: Notice | undefined;
}

/*
 * `Secure` only over TLS: at http://localhost, the forwarded port, some browsers reject such a cookie.
 * Cookies are shared between ports, so origin.ts checks the origin as well.
 */
const formatCookie = (value: string, maxAgeSeconds: number, isSecure: boolean): string =>
  `${cookieName}=${value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}`;

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

  /** @returns the cookie. */
  begin(username: string, isSecure: boolean): string {
    const token = mintToken("");
    const [oldest] = this.#logins.keys();
    if (this.#logins.size >= maxLogins && oldest !== undefined) this.#logins.delete(oldest);
    const activeAt = this.#now();
    const login = { username, activeAt, endsAt: activeAt + lifetimeMs, notice: undefined };
    this.#logins.set(digestToken(token).toString("hex"), login);
    return formatCookie(token, lifetimeMs / 1_000, isSecure);
  }

  /**
   * @param cookies the request's `Cookie` header.
   * @param isIdle whether the page sent the request, and not the operator.
   */
  find(cookies: string | undefined, isIdle: boolean): OperatorLogin | undefined {
    const token = findToken(cookies);
    if (token === undefined) return undefined;
    const key = digestToken(token).toString("hex");
    const login = this.#logins.get(key);
    const now = this.#now();
    if (login && login.endsAt > now && login.activeAt + idleTimeoutMs > now) {
      if (!isIdle) login.activeAt = now;
      return login;
    }
    this.#logins.delete(key);
    return undefined;
  }

  /** @returns a cookie that deletes the login's. */
  end(cookies: string | undefined, isSecure: boolean): string {
    this.#logins.delete(digestToken(findToken(cookies) ?? "").toString("hex"));
    return formatCookie("", 0, isSecure);
  }
}
