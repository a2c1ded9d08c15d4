import type { Language } from "#lib/openapi/text.ts";
import { PlainReply } from "#lib/routes/route.ts";

/**
 * Everything loads from the page's own origin, without inline scripts or styles. The reference's style sheet contains
 * its images as data URLs.
 */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

/** @param path as requested: API Gateway ignores a trailing slash, with which the page's relative links would break. */
export const pageReply = (html: string, path: string, language: Language): PlainReply => {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
  };
  if (!path.endsWith("/")) return new PlainReply(html, headers);
  return new PlainReply("", { ...headers, location: `../${path.split("/").at(-2)}?lang=${language}` }, 308);
};
