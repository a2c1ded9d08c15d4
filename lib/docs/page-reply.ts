import { TextReply } from "#lib/routes/route.ts";

/**
 * Everything loads from the page's own origin, without inline scripts or styles. The reference's style sheet contains
 * its images as data URLs.
 */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

export const pageReply = (html: string): TextReply =>
  new TextReply(html, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
  });
