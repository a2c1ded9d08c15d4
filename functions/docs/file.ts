import { findAddressed, findBuilt } from "#lib/docs/built.ts";
import { pageReply } from "#lib/docs/page-reply.ts";
import { Fault } from "#lib/faults/fault.ts";
import { noGuide } from "#lib/faults/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readFile as route } from "#lib/routes/docs.ts";
import { TextReply } from "#lib/routes/route.ts";

const mediaTypes = { js: "text/javascript", css: "text/css" };

/** Returns a guide, a script or a style sheet. */
export const handler = endpoint(route).handler(async ({ params: { name }, query: { lang } }) => {
  const kind = (["js", "css"] as const).find((known) => name.endsWith(`.${known}`));
  const text = kind ? findBuilt(name) : findAddressed(`${name}.${lang}.html`);
  if (text === undefined) throw new Fault(noGuide);
  return kind
    ? new TextReply(text, { "content-type": `${mediaTypes[kind]}; charset=utf-8` })
    : pageReply(text);
});
