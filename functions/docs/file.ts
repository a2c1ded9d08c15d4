import { findAddressed, findBuilt } from "#lib/docs/built.ts";
import { pageReply } from "#lib/docs/page-reply.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { Fault } from "#lib/http/fault.ts";
import { TextReply } from "#lib/http/text-reply.ts";
import { readFile as route } from "#lib/routes/docs.ts";

const mediaTypes = { js: "text/javascript", css: "text/css" };
const notFound = () => new Fault(404, "not_found", "There is no such guide; /docs lists them all");

/** Returns a guide, a script or a style sheet. */
export const handler = endpoint(route).handler(async ({ params: { name }, query: { lang } }) => {
  const kind = (["js", "css"] as const).find((known) => name.endsWith(`.${known}`));
  const text = kind ? findBuilt(name) : findAddressed(`${name}.${lang}.html`);
  if (text === undefined) throw notFound();
  return kind
    ? new TextReply(text, { "content-type": `${mediaTypes[kind]}; charset=utf-8` })
    : pageReply(text);
});
