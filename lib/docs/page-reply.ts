import { TextReply } from "#lib/http/text-reply.ts";

/**
 * Everything comes from the page's own origin, and no script or style stands in the page. The pictures of the
 * reference's style are in its style sheet, as data.
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
