import { findAsset } from "#lib/docs/asset-reply.ts";
import { findAddressed } from "#lib/docs/built.ts";
import { pageReply } from "#lib/docs/page-reply.ts";
import { Fault } from "#lib/faults/fault.ts";
import { noGuide } from "#lib/faults/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readFile as route } from "#lib/routes/docs.ts";

/** Returns a guide, a script or a style sheet. */
export const handler = endpoint(route).handler(
  async ({ params: { name }, query: { lang }, headers, path }) => {
    const asset = name.includes(".") ? findAsset(name, headers["accept-encoding"]) : undefined;
    const html = asset ? undefined : findAddressed(`${name}.${lang}.html`);
    if (asset) return asset;
    if (html === undefined) throw new Fault(noGuide);
    return pageReply(html, path, lang);
  },
);
