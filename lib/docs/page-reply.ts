import { PlainReply } from "#lib/routes/route.ts";
import { basePath, findAddressed, findBuilt } from "./built.ts";

/** The reference's script writes styles into its page, and no other page does. */
const policyOf = (name: string): string => {
  const policy = findBuilt("policy.txt") ?? "default-src 'none'";
  return /(^|\/)reference$/.test(name) ? policy.replace("style-src 'self'", "$& 'unsafe-inline'") : policy;
};

/** Returns a page of the site with the addresses of this stage, or undefined. */
export const findPage = (name: string, acceptEncoding: string, status = 200): PlainReply | undefined => {
  const html = findAddressed(`${name}.html`);
  if (html === undefined) return undefined;
  return composeReply(
    html,
    acceptEncoding,
    {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policyOf(name),
      "referrer-policy": "no-referrer",
    },
    status,
  );
};

/** Redirects to a page, by its path below the API's own. */
export const redirectTo = (path: string): PlainReply =>
  new PlainReply("", { "content-type": "text/plain", location: `${basePath()}${path}` }, 308);

/** Whether `Accept-Encoding` names the coding, and not with `q=0` (RFC 9110, 12.5.3). */
export const accepts = (acceptEncoding: string, coding: string): boolean =>
  acceptEncoding
    .toLowerCase()
    .split(",")
    .map((one) => one.split(";").map((part) => part.trim()))
    .some(([name, weight = ""]) => name === coding && !/^q=0(\.0*)?$/.test(weight));

/** In 2 ms for a text of 100 KB. Loaded here, because it takes 2 ms of a cold start that others do not need. */
const compress = (text: string): Buffer => {
  const { brotliCompressSync, constants } = process.getBuiltinModule("node:zlib");
  return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
};

/** Returns a text that was composed for this stage, compressed for clients that accept brotli. */
export const composeReply = (
  text: string,
  acceptEncoding: string,
  headers: ConstructorParameters<typeof PlainReply>[1],
  status = 200,
): PlainReply => {
  const hasBrotli = accepts(acceptEncoding, "br");
  return new PlainReply(
    hasBrotli ? compress(text) : text,
    { ...headers, vary: "accept-encoding", ...(hasBrotli && { "content-encoding": "br" }) },
    status,
  );
};
