import { digestToken, mintToken } from "#lib/opaque-token.ts";

/** A working day. The page asks every two seconds, so that idleness would say nothing. */
const lifeMs = 8 * 60 * 60 * 1_000;
const maxVisits = 100;
const cookieName = "console";

/** What came of the operator's last action. */
export interface Notice {
  readonly kind: "done" | "failed";
  readonly text: string;
}

/** An operator who is logged in. */
export interface Visit {
  readonly username: string;
  readonly endsAt: number;
  notice: Notice | undefined;
}

/*
 * No `Secure`: the task speaks plain HTTP behind a forwarded port, and not every browser takes such a cookie
 * there. The port does not separate cookies, which is why origin.ts looks at the origin as well.
 */
const spellCookie = (value: string, maxAgeSeconds: number): string =>
  `${cookieName}=${value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`;

const findToken = (cookies: string | undefined): string | undefined =>
  cookies
    ?.split(";")
    .map((cookie) => cookie.trim().split("="))
    .find(([name]) => name === cookieName)?.[1];

/** Who is logged in, in this task's memory: a restart logs everybody out. */
export class Visits {
  readonly #now: () => number;
  // by digest: how long a look-up takes tells nothing about the token
  readonly #visits = new Map<string, Visit>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the cookie to be set. */
  begin(username: string): string {
    const token = mintToken("");
    const [oldest] = this.#visits.keys();
    if (this.#visits.size >= maxVisits && oldest !== undefined) this.#visits.delete(oldest);
    const visit = { username, endsAt: this.#now() + lifeMs, notice: undefined };
    this.#visits.set(digestToken(token).toString("hex"), visit);
    return spellCookie(token, lifeMs / 1_000);
  }

  /** @param cookies the request's `Cookie` header. */
  find(cookies: string | undefined): Visit | undefined {
    const token = findToken(cookies);
    if (token === undefined) return undefined;
    const key = digestToken(token).toString("hex");
    const visit = this.#visits.get(key);
    if (visit && visit.endsAt > this.#now()) return visit;
    this.#visits.delete(key);
    return undefined;
  }

  /** @returns the cookie that takes the visit's away. */
  end(cookies: string | undefined): string {
    this.#visits.delete(digestToken(findToken(cookies) ?? "").toString("hex"));
    return spellCookie("", 0);
  }
}
