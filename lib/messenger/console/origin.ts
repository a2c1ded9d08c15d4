import type { IncomingHttpHeaders } from "node:http";

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

/**
 * Whether the console's own page sent this. SameSite alone does not tell: a page on another port of the same
 * host is the same site. Every browser sends at least one of the two headers with a POST.
 */
export const isFromOwnPage = ({ origin, host, "sec-fetch-site": site }: IncomingHttpHeaders): boolean => {
  if (origin === undefined && site === undefined) return false;
  return (origin === undefined || hostOf(origin) === host) && (site === undefined || site === "same-origin");
};
