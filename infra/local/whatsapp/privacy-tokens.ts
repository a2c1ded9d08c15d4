import { randomBytes } from "node:crypto";
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import * as z from "zod/mini";
import type { Phone } from "./phone.ts";
import type { Directory } from "./registered-numbers.ts";
import { bytesOf, element, secondsNow } from "./wire/stanza.ts";

const weekSeconds = 604_800;
const weekNow = () => Math.floor(Number(secondsNow()) / weekSeconds);

/**
 * What the platform demands of a message to a contact, or answers 463: a token that the contact gave to the account
 * (whatsmeow #1081, #1148), or that the account has given one to the contact since the week began (Baileys #2339). Without
 * any, a few new contacts get through, then none (WAHA #1992).
 */
export const TokenDemand = z.strictObject({
  /** Messages without a token that are delivered before 463. */
  free: z._default(z.int().check(z.minimum(0)), 0),
  /** True: only the contact's own token counts. */
  theirs: z._default(z.boolean(), false),
});
export type TokenDemand = z.infer<typeof TokenDemand>;

/** The privacy tokens that the account and its contacts have given to each other. */
export class PrivacyTokens {
  readonly #directory: Directory;
  /** By the contact's LID: the weeks in which the account gave its token, one entry for each query. */
  readonly #given = new Map<string, number[]>();
  readonly #received = new Map<string, Buffer>();

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** How often the account gave its token to a contact. */
  givenTo({ lid }: Phone): number {
    return this.#given.get(lid)?.length ?? 0;
  }

  /** A contact gives the account a token. */
  receive({ lid }: Phone): Buffer {
    const token = this.#received.get(lid) ?? randomBytes(24);
    this.#received.set(lid, token);
    return token;
  }

  /** Handles a query in which the account gives its token. @returns the tokens that those contacts gave to it. */
  answer(tokens: BinaryNode): BinaryNode[] {
    const returned = getBinaryNodeChildren(tokens, "token").flatMap(({ attrs: { jid = "" } }) => {
      const phone = this.#directory.find(jid);
      if (!phone) return [];
      this.#given.set(phone.lid, [...(this.#given.get(phone.lid) ?? []), weekNow()]);
      const token = this.#received.get(phone.lid);
      return token ? [element("token", { jid, t: secondsNow(), type: "trusted_contact" }, token)] : [];
    });
    return [element("tokens", {}, returned)];
  }

  /** Creates the notification that brings a contact's token. */
  notify(phone: Phone): BinaryNode {
    const from = `${phone.lid}@lid`;
    const token = element(
      "token",
      { jid: from, t: secondsNow(), type: "trusted_contact" },
      this.receive(phone),
    );
    const attrs = { id: randomBytes(4).toString("hex"), from, type: "privacy_token", t: secondsNow() };
    return element("notification", attrs, [element("tokens", {}, [token])]);
  }

  /** Returns the code with which a message is rejected for its missing token, if any. */
  nackOf(demand: TokenDemand, message: BinaryNode, { lid }: Phone): number | undefined {
    const theirs = this.#received.get(lid)?.equals(bytesOf(getBinaryNodeChild(message, "tctoken")));
    if (theirs || (!demand.theirs && this.#given.get(lid)?.includes(weekNow()))) return undefined;
    if (demand.free === 0) return 463;
    demand.free -= 1;
    return undefined;
  }
}
