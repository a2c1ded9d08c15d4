import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Account } from "./account.ts";
import type { Directory } from "./directory.ts";
import type { Phone } from "./phone.ts";
import { bytesOf, element } from "./stanza.ts";

const devicesOf = (phone: Phone, account: Account) => {
  const linked = phone === account.phone ? account.devices : [];
  return element("devices", {}, [
    element("device-list", {}, [
      element("device", { id: "0" }),
      ...linked.map(({ id }) => element("device", { id: String(id), "key-index": String(id) })),
    ]),
  ]);
};

/** Answers a query for users: whether a number has an account, its devices, its LID. */
export const answerUsync = (usync: BinaryNode, directory: Directory, account: Account): BinaryNode => {
  const asks = (tag: string) => getBinaryNodeChild(getBinaryNodeChild(usync, "query"), tag) !== undefined;
  const users = getBinaryNodeChildren(getBinaryNodeChild(usync, "list"), "user").map((user) => {
    const dialled = bytesOf(getBinaryNodeChild(user, "contact")).toString().replaceAll(/\D/g, "");
    const jid = user.attrs.jid ?? `${dialled}@s.whatsapp.net`;
    const phone = directory.find(jid);
    if (phone && asks("devices")) phone.queries.devices += 1;
    return element("user", { jid }, [
      ...(asks("contact") ? [element("contact", { type: phone ? "in" : "out" })] : []),
      ...(asks("devices") && phone ? [devicesOf(phone, account)] : []),
      ...(asks("lid") && phone ? [element("lid", { val: `${phone.lid}@lid` })] : []),
    ]);
  });
  return element("usync", {}, [element("result"), element("list", {}, users)]);
};
