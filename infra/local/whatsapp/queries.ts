import {
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  getBinaryNodeChildren,
} from "baileys";
import { type Behaviour, spend } from "./behaviour.ts";
import { answerUsync } from "./contacts.ts";
import type { MediaStore } from "./media/media-store.ts";
import type { NewChatLimits } from "./new-chats.ts";
import type { Phone } from "./phone.ts";
import type { Account, Device } from "./phone-account.ts";
import type { PrivacyTokens } from "./privacy-tokens.ts";
import type { Directory } from "./registered-numbers.ts";
import { element } from "./wire/stanza.ts";

/** The data that queries read. */
export interface Knowledge {
  readonly account: Account;
  readonly directory: Directory;
  readonly media: MediaStore;
  readonly tokens: PrivacyTokens;
  readonly newChats: NewChatLimits;
}

/** Stores the client's keys, counts them, or confirms that they are known. */
const answerOwnKeys = (iq: BinaryNode, device: Device, { leastKeys }: Behaviour) => {
  if (iq.attrs.type === "set") {
    device.keys.store(iq);
    return [];
  }
  if (getBinaryNodeChild(iq, "count"))
    return [element("count", { value: String(Math.max(leastKeys, device.keys.count)) })];
  return [element("digest")];
};

/** Returns the keys of each address for new sessions. */
const answerKeys = async (key: BinaryNode, { account, directory }: Knowledge, behaviour: Behaviour) => {
  const oneTimeOf = (phone: Phone) => {
    if (!behaviour.oneTimeKeys) return "none";
    return phone !== account.phone && spend(behaviour, "usedPreKeys") ? "used" : "new";
  };
  const asked = getBinaryNodeChildren(key, "user");
  const isSilent = asked.some(
    ({ attrs: { jid = "" } }) => directory.find(jid)?.number === behaviour.silentKeysOf,
  );
  if (isSilent) return undefined;
  const { keyless } = behaviour;
  const users = asked.map(async ({ attrs: { jid = "" } }) => {
    const phone = directory.findDevice(jid);
    const isKeyless = phone && keyless?.of === (phone.id === 0 ? "phones" : "companions");
    if (isKeyless && keyless?.answer === "absent") return [];
    if (!phone || isKeyless)
      return element("user", { jid }, [element("error", { code: "404", text: "item-not-found" })]);
    phone.queries.keys += 1;
    const { registration, keys } = await phone.bundle(oneTimeOf(phone));
    return element("user", { jid }, [registration, ...keys]);
  });
  return [element("list", {}, (await Promise.all(users)).flat())];
};

/** Returns the content of the reply; empty for queries that a sending client does not need, undefined for no reply. */
export const answer = async (
  iq: BinaryNode,
  device: Device,
  knowledge: Knowledge,
  behaviour: Behaviour,
): Promise<BinaryNode[] | undefined> => {
  const { account, directory, media, tokens, newChats } = knowledge;
  const [asked] = getAllBinaryNodeChildren(iq);
  switch (iq.attrs.xmlns) {
    case "encrypt":
      return asked?.tag === "key"
        ? answerKeys(asked, knowledge, behaviour)
        : answerOwnKeys(iq, device, behaviour);
    case "usync":
      if (behaviour.failDirectory) return [element("error", { code: "503" })];
      return asked ? [answerUsync(asked, directory, account, behaviour.contacts)] : [];
    case "privacy":
      return asked?.tag === "tokens" ? tokens.answer(asked) : [];
    case "w:m":
      if (spend(behaviour, "failMediaConn")) return [element("error", { code: "503" })];
      return [
        element(
          "media_conn",
          { auth: media.token, ttl: "300" },
          media.hosts.map((hostname) => element("host", { hostname })),
        ),
      ];
    case "w:mex":
      return [element("result", {}, Buffer.from(newChats.answer(asked?.attrs.query_id)))];
    default:
      return [];
  }
};
