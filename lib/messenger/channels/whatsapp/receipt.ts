import { areJidsSameUser, type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";

/** What a recipient's phone reported about a message. */
export interface Receipt {
  readonly id: string;
  readonly kind: "delivered" | "read" | "played";
}

/** `inactive`: delivered to a device that is not in use at the moment. */
const kinds: Readonly<Record<string, Receipt["kind"]>> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  played: "played",
};

/** Lists the receipts in a stanza, except those of the account's own devices, retries and other kinds. */
export const receiptsOf = (node: BinaryNode, own: readonly (string | undefined)[]): readonly Receipt[] => {
  const { attrs } = node;
  const kind = kinds[attrs.type ?? ""];
  const from = attrs.participant ?? attrs.from;
  if (!kind || !attrs.id || own.some((jid) => jid && areJidsSameUser(from, jid))) return [];
  const more = getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "item").map((item) => item.attrs.id);
  return [attrs.id, ...more].flatMap((id) => (id ? [{ id, kind }] : []));
};
