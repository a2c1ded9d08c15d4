import type { BinaryNode } from "baileys";
import type { Account, Device } from "./account.ts";
import type { Directory } from "./directory.ts";
import type { MediaStore } from "./media-store.ts";
import { element, findChild, firstChild, listChildren } from "./stanza.ts";
import { answerUsync } from "./usync.ts";

/** What queries are answered from. */
export interface Knowledge {
  readonly account: Account;
  readonly directory: Directory;
  readonly media: MediaStore;
}

const mediaSeconds = 300;

/** The client's own keys: how many are left, new ones, and whether they are known at all. */
const answerOwnKeys = (iq: BinaryNode, device: Device) => {
  if (iq.attrs.type === "set") {
    device.keys.keep(iq);
    return [];
  }
  if (findChild(iq, "count")) return [element("count", { value: String(device.keys.count) })];
  return [element("digest")];
};

/** Keys to open sessions with, for each address. */
const answerKeys = async (key: BinaryNode, directory: Directory) => {
  const users = listChildren(key, "user").map(async ({ attrs: { jid = "" } }) => {
    const phone = directory.find(jid);
    if (!phone) return element("user", { jid }, [element("error", { code: "404", text: "item-not-found" })]);
    const { registration, keys } = await phone.bundle();
    return element("user", { jid }, [registration, ...keys]);
  });
  return [element("list", {}, await Promise.all(users))];
};

const answerMediaConnection = ({ host, token }: MediaStore) => [
  element("media_conn", { auth: token, ttl: String(mediaSeconds) }, [element("host", { hostname: host })]),
];

/** @returns the content of the answer; what a sending client can live without is answered with nothing. */
export const answer = async (
  iq: BinaryNode,
  device: Device,
  { account, directory, media }: Knowledge,
): Promise<BinaryNode[]> => {
  const asked = firstChild(iq);
  switch (iq.attrs.xmlns) {
    case "encrypt":
      return asked?.tag === "key" ? answerKeys(asked, directory) : answerOwnKeys(iq, device);
    case "usync":
      return asked ? [answerUsync(asked, directory, account)] : [];
    case "w:m":
      return answerMediaConnection(media);
    default:
      return [];
  }
};
