import { PlainReply } from "#lib/routes/route.ts";
import { basePath, findAddressed, findBuilt } from "./built.ts";
import { accepts } from "./coding.ts";

/** In 2 ms for a page of 100 KB. Loaded here, because it takes 2 ms of a cold start that others do not need. */
const compress = (html: string): Buffer => {
  const { brotliCompressSync, constants } = process.getBuiltinModule("node:zlib");
  return brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
};

/** The reference's script writes styles into its page, and no other page does. */
const policyOf = (name: string): string => {
  const policy = findBuilt("policy.txt") ?? "default-src 'none'";
  return /(^|\/)reference$/.test(name) ? policy.replace("style-src 'self'", "$& 'unsafe-inline'") : policy;
};

/** Returns a page of the site with the addresses of this stage, or undefined. */
export const findPage = (name: string, acceptEncoding: string, status = 200): PlainReply | undefined => {
  const html = findAddressed(`${name}.html`);
  if (html === undefined) return undefined;
  const hasBrotli = accepts(acceptEncoding, "br");
  return new PlainReply(
    hasBrotli ? compress(html) : html,
    {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policyOf(name),
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
