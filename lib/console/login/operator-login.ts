import { digestToken, mintToken } from "#lib/opaque-token.ts";
import { formatCookie, readCookie } from "./cookie.ts";
import type { Operator } from "./roles.ts";

const idleTimeoutMs = 15 * 60 * 1_000;
const hourMs = 60 * 60 * 1_000;
/** A password's operator is looked up with every request; what an issuer has said about its account is not. */
const lifetimesMs = { local: 8 * hourMs, issuer: hourMs };
export type Method = keyof typeof lifetimesMs;
const maxLogins = 100;
const cookieName = "console";

export interface Notice {
  readonly kind: "done" | "failed";
  readonly text: string;
}

/** Which messages an operator wants to see. Stored here and not in the URL, because a number is personal data. */
export interface MessageFilter {
  readonly id?: string | undefined;
  readonly phone?: string | undefined;
  readonly sender?: string | undefined;
}

export interface OperatorLogin {
  operator: Operator;
  readonly endsAt: number;
  activeAt: number;
  notice: Notice | undefined;
  filter: MessageFilter;
  /** The account whose connection is shown; by default one that the task leads. */
  account: string | undefined;
}

/** Logins in the memory of this task: a restart logs everybody out. */
export class OperatorLogins {
  readonly #now: () => number;
  // by digest: the time of a lookup reveals nothing about the token
  readonly #logins = new Map<string, OperatorLogin>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a login, with a new token. @returns the cookie. */
  begin(operator: Operator, method: Method, isSecure: boolean): string {
    const lifetimeMs = lifetimesMs[method];
    const token = mintToken("");
    const [oldest] = this.#logins.keys();
    if (this.#logins.size >= maxLogins && oldest !== undefined) this.#logins.delete(oldest);
    const activeAt = this.#now();
    const login = { operator, activeAt, endsAt: activeAt + lifetimeMs };
    const fresh = { notice: undefined, filter: {}, account: undefined };
    this.#logins.set(digestToken(token).toString("hex"), { ...login, ...fresh });
    return formatCookie(cookieName, token, { maxAgeSeconds: lifetimeMs / 1_000, isSecure });
  }

  /**
   * @param cookies the request's `Cookie` header.
   * @param isIdle whether the page sent the request, and not the operator.
   */
  find(cookies: string | undefined, isIdle: boolean): OperatorLogin | undefined {
    const token = readCookie(cookies, cookieName);
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
    this.#logins.delete(digestToken(readCookie(cookies, cookieName) ?? "").toString("hex"));
    return formatCookie(cookieName, "", { maxAgeSeconds: 0, isSecure });
  }
}
