interface CookieOptions {
  readonly maxAgeSeconds: number;
  readonly isSecure: boolean;
  /** `Lax` only for a cookie that must arrive with a navigation from another site. */
  readonly sameSite?: "Strict" | "Lax";
}

/*
 * `Secure` only over TLS: at http://localhost, the forwarded port, some browsers reject such a cookie.
 * Cookies are shared between ports, so origin.ts checks the origin as well.
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
