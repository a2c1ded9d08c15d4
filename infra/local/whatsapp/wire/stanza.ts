import type { BinaryNode } from "baileys";

/** The server's JID. */
export const serverJid = "s.whatsapp.net";

/** Returns the content as bytes; empty if there is none. */
export const bytesOf = (stanza: BinaryNode | undefined): Buffer => {
  const content = stanza?.content;
  if (typeof content === "string") return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : Buffer.alloc(0);
};

export const element = (
  tag: string,
  attrs: Record<string, string> = {},
  content?: BinaryNode["content"],
): BinaryNode => (content === undefined ? { tag, attrs } : { tag, attrs, content });

/** Returns the number or LID before `:device@server`. */
export const userOf = (jid: string): string => jid.split("@")[0]?.split(":")[0] ?? "";

export const secondsNow = (): string => String(Math.floor(Date.now() / 1_000));
