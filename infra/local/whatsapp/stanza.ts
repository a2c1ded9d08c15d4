import type { BinaryNode } from "baileys";

/** The server's own address. */
export const serverJid = "s.whatsapp.net";

export const listChildren = (stanza: BinaryNode | undefined, tag: string): BinaryNode[] =>
  Array.isArray(stanza?.content) ? stanza.content.filter((child) => child.tag === tag) : [];

export const findChild = (stanza: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  listChildren(stanza, tag)[0];

/** The content as bytes; empty where there is none. */
export const bytesOf = (stanza: BinaryNode | undefined): Buffer => {
  const content = stanza?.content;
  if (typeof content === "string") return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : Buffer.alloc(0);
};

/** The first child, whatever it is: most queries say by it what they want. */
export const firstChild = (stanza: BinaryNode): BinaryNode | undefined =>
  Array.isArray(stanza.content) ? stanza.content[0] : undefined;

export const element = (
  tag: string,
  attrs: Record<string, string> = {},
  content?: BinaryNode["content"],
): BinaryNode => (content === undefined ? { tag, attrs } : { tag, attrs, content });

export const bigEndian = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};

/** The number or LID in front of `:device@server`. */
export const userOf = (jid: string): string => jid.split("@")[0]?.split(":")[0] ?? "";

export const secondsNow = (): string => String(Math.floor(Date.now() / 1_000));
