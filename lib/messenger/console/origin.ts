import type { IncomingHttpHeaders } from "node:http";

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
