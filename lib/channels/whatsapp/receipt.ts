import { areJidsSameUser, type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";

/** What a recipient's phone reported about a message. */
export interface Receipt {
  readonly id: string;
  /** `undecryptable`: the phone shows "Waiting for this message". */
  readonly kind: "delivered" | "read" | "played" | "undecryptable";
}

/**
 * A phone counts its requests for a copy that it can decrypt. The second copy has a new session, so one that requests a
 * third will not decrypt that either (zapo #262); baileys answers two, because it counts each request twice.
 */
const lastRequest = 3;

/** `inactive`: delivered to a device that is not in use at the moment. */
const kinds: Readonly<Record<string, Receipt["kind"]>> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  played: "played",
};

const kindOf = (node: BinaryNode): Receipt["kind"] | undefined => {
  const { type = "" } = node.attrs;
  if (type !== "retry") return kinds[type];
  const { count } = getBinaryNodeChild(node, "retry")?.attrs ?? {};
  return Number(count) >= lastRequest ? "undecryptable" : undefined;
};

/** Lists the receipts in a stanza, except those of the account's own devices, first retries and other kinds. */
export const receiptsOf = (node: BinaryNode, own: readonly (string | undefined)[]): readonly Receipt[] => {
  const { attrs } = node;
  const kind = kindOf(node);
  const from = attrs.participant ?? attrs.from;
  if (!kind || !attrs.id || own.some((jid) => jid && areJidsSameUser(from, jid))) return [];
  const more = getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "item").map((item) => item.attrs.id);
  return [attrs.id, ...more].flatMap((id) => (id ? [{ id, kind }] : []));
};
