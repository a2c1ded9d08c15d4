import { randomBytes } from "node:crypto";
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import * as z from "zod/mini";
import type { Phone } from "./phone.ts";
import type { Account } from "./phone-account.ts";
import type { Directory } from "./registered-numbers.ts";
import { bytesOf, element, secondsNow } from "./wire/stanza.ts";

/** How contacts are found and addressed: each has a number and a LID, an id that does not reveal the number. */
export const Contacts = z.strictObject({
  /**
   * The only address that reaches contacts, by default either. `lid`: messages by number are answered 463 (Baileys
   * #2683, #2698, OpenWA #717), and USync by number lists no devices (Baileys #2794). `number`: the account is not
   * migrated, messages by LID are answered 400 (whatsapp-rust #941, #943).
   */
  reachedBy: z.optional(z.enum(["lid", "number"])),
  /**
   * Numbers whose device list is empty, however they are addressed. A client that sends nevertheless sends to its own
   * devices alone, and is acknowledged (whatsapp-rust #1299, clawdi #956).
   */
  withoutDevices: z._default(z.array(z.string()), []),
  /**
   * Numbers whose LID USync does not return, as for contacts that are not migrated (whatsmeow #1041, WAHA #1714, OpenWA
   * #580).
   */
  withoutLid: z._default(z.array(z.string()), []),
  /**
   * The numbers that USync returns for others: a Brazilian one without the ninth digit (Baileys #1997), a Mexican one with
   * a 1 after 52 (whatsmeow #874), an Argentine one with a 9 after 54 (yowsup #57 of Aragur, chatwoot #14264).
   */
  canonical: z._default(z.record(z.string(), z.string()), {}),
  /** Receipts come from the address of the message or from the contact's other one (Baileys #1832). */
  receiptsFrom: z._default(z.enum(["same", "other"]), "same"),
});
export type Contacts = z.infer<typeof Contacts>;

const isLid = (jid: string) => jid.endsWith("@lid");

/** Returns the code with which a message to this address is rejected, if any. */
export const nackOfAddress = ({ reachedBy }: Contacts, to: string): number | undefined => {
  if (reachedBy === "lid" && !isLid(to)) return 463;
  return reachedBy === "number" && isLid(to) ? 400 : undefined;
};

/** Returns the address that the receipts of a message to this address come from. */
export const receiptAddress = ({ receiptsFrom }: Contacts, to: string, phone: Phone): string => {
  if (receiptsFrom === "same") return to;
  return isLid(to) ? phone.jid : `${phone.lid}@lid`;
};

/**
 * Creates the notification that a phone has linked or unlinked a companion: from its number, with its LID beside it
 * (whatsmeow's `handleDeviceNotification`, Baileys #2436).
 */
export const companionChanged = (tag: "add" | "remove", { id, number, jid, lid }: Phone): BinaryNode => {
  const device = element("device", {
    jid: `${number}:${id}@s.whatsapp.net`,
    lid: `${lid}:${id}@lid`,
    "key-index": String(id),
  });
  const addresses = { from: jid, lid: `${lid}@lid` };
  const attrs = { id: randomBytes(4).toString("hex"), ...addresses, type: "devices", t: secondsNow() };
  return element("notification", attrs, [element(tag, { device_hash: "2:fake" }, [device])]);
};

const devicesOf = (phone: Phone, account: Account, isListed: boolean) => {
  const linked = phone === account.phone ? [...account.devices, ...phone.companions] : phone.companions;
  const others = linked.map(({ id }) => element("device", { id: String(id), "key-index": String(id) }));
  return element("devices", {}, [
    element("device-list", {}, isListed ? [element("device", { id: "0" }), ...others] : []),
  ]);
};

/** Answers a query for users: whether a number has an account, its devices, its LID. */
export const answerUsync = (
  usync: BinaryNode,
  directory: Directory,
  account: Account,
  { reachedBy, withoutDevices, withoutLid, canonical }: Contacts,
): BinaryNode => {
  const asks = (tag: string) => getBinaryNodeChild(getBinaryNodeChild(usync, "query"), tag) !== undefined;
  const users = getBinaryNodeChildren(getBinaryNodeChild(usync, "list"), "user").map((user) => {
    const dialled = bytesOf(getBinaryNodeChild(user, "contact")).toString().replaceAll(/\D/g, "");
    const jid = user.attrs.jid ?? `${canonical[dialled] ?? dialled}@s.whatsapp.net`;
    const phone = directory.find(jid);
    if (phone && asks("devices")) phone.queries.devices += 1;
    const isListed =
      phone !== undefined &&
      (phone === account.phone || reachedBy !== "lid" || isLid(jid)) &&
      !withoutDevices.includes(phone.number);
    const hasLid = phone !== undefined && !isLid(jid) && !withoutLid.includes(phone.number);
    return element("user", { jid }, [
      ...(asks("contact") ? [element("contact", { type: phone ? "in" : "out" })] : []),
      ...(asks("devices") && phone ? [devicesOf(phone, account, isListed)] : []),
      ...(asks("lid") && hasLid ? [element("lid", { val: `${phone.lid}@lid` })] : []),
    ]);
  });
  return element("usync", {}, [element("result"), element("list", {}, users)]);
};
