import type { IncomingHttpHeaders } from "node:http";

interface CookieOptions {
  readonly maxAgeSeconds: number;
  readonly isSecure: boolean;
  /** `Lax` only for a cookie that must arrive with a navigation from another site. */
  readonly sameSite?: "Strict" | "Lax";
}

/*
 * `Secure` only over TLS: at http://localhost, the forwarded port, some browsers reject such a cookie.
 * Cookies are shared between ports, so the origin is checked as well.
 */
export const formatCookie = (
  name: string,
  value: string,
  { maxAgeSeconds, isSecure, sameSite = "Strict" }: CookieOptions,
): string =>
  `${name}=${value}; Path=/console; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}`;

/** @param cookies the request's `Cookie` header. */
export const readCookie = (cookies: string | undefined, name: string): string | undefined =>
  cookies
    ?.split(";")
    .map((cookie) => cookie.trim().split("="))
    .find(([found]) => found === name)?.[1];

/** The operator forwards a port of their own machine to the task (runbook, "Reach the console and the database"); its number varies. */
const names = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Whether the request has a name of the console. With another name, which its owner can resolve to 127.0.0.1, pages of
 * that name could read the console (DNS rebinding).
 */
export const isAddressedToConsole = ({ host }: IncomingHttpHeaders): boolean =>
  URL.canParse(`http://${host}`) && names.includes(new URL(`http://${host}`).hostname);

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

/**
 * Whether a page of this console sent the request. SameSite is not enough: another port of the same host is the
 * same site. Browsers send at least one of the two headers with a POST.
 */
export const isFromOwnPage = ({ origin, host, "sec-fetch-site": site }: IncomingHttpHeaders): boolean => {
  if (origin === undefined && site === undefined) return false;
  return (origin === undefined || hostOf(origin) === host) && (site === undefined || site === "same-origin");
};

/** Whether a page of another site has sent the operator's browser here. */
export const isFromElsewhere = ({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== "same-origin" && site !== "none";

/**
 * Whether the browser uses TLS, which something in front of the task may terminate: the task itself serves HTTP. Browsers
 * name the origin with forms only.
 */
export const isOverTls = ({ headers }: { readonly headers: IncomingHttpHeaders }): boolean =>
  String(headers["x-forwarded-proto"] ?? headers.origin).startsWith("https");
