import { gunzipSync } from "node:zlib";
import { PlainReply } from "#lib/routes/route.ts";
import { findBytes } from "./built.ts";

const mediaTypes: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" };

/** Content codings and the ending of the file in each, the smallest file first. */
const codings = { br: "br", gzip: "gz" } as const;

/** Whether `Accept-Encoding` names the coding, and not with `q=0` (RFC 9110, 12.5.3). */
const accepts = (acceptEncoding: string, coding: string): boolean =>
  acceptEncoding
    .toLowerCase()
    .split(",")
    .map((one) => one.split(";").map((part) => part.trim()))
    .some(([name, weight = ""]) => name === coding && !/^q=0(\.0*)?$/.test(weight));

/**
 * Returns a script or style sheet, in the coding that the build stored, or as text for clients that accept none. The
 * name has a digest of the content, so a browser asks once in a year.
 */
export const findAsset = (name: string, acceptEncoding: string): PlainReply | undefined => {
  const coding = (["br", "gzip"] as const).find((known) => accepts(acceptEncoding, known));
  const stored = findBytes(`${name}.${codings[coding ?? "gzip"]}`);
  return (
    stored &&
    new PlainReply(coding ? stored : gunzipSync(stored).toString(), {
      "content-type": `${mediaTypes[name.split(".").at(-1) ?? ""]}; charset=utf-8`,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(coding && { "content-encoding": coding }),
    })
  );
};
