import { PlainReply } from "#lib/routes/route.ts";
import { basePath, findAddressed, findBuilt } from "./built.ts";
import { composeReply } from "./coding.ts";

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
