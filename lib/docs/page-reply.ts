import { brotliCompressSync, constants } from "node:zlib";
import { PlainReply } from "#lib/routes/route.ts";
import { basePath, findAddressed, findBuilt } from "./built.ts";
import { accepts } from "./coding.ts";

/** 2 ms for a page of 100 KB. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Returns a page of the site with the addresses of this stage, or undefined. */
export const findPage = (name: string, acceptEncoding: string, status = 200): PlainReply | undefined => {
  const html = findAddressed(`${name}.html`);
  if (html === undefined) return undefined;
  const hasBrotli = accepts(acceptEncoding, "br");
  return new PlainReply(
    hasBrotli ? brotliCompressSync(html, { params }) : html,
    {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": findBuilt("policy.txt") ?? "default-src 'none'",
      "referrer-policy": "no-referrer",
      vary: "accept-encoding",
      ...(hasBrotli && { "content-encoding": "br" }),
    },
    status,
  );
};

/** Redirects to a page, by its path below the API's own. */
export const redirectTo = (path: string): PlainReply =>
  new PlainReply("", { "content-type": "text/plain", location: `${basePath()}${path}` }, 308);
