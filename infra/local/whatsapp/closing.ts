import type { BinaryNode } from "baileys";
import { element } from "./wire/stanza.ts";

/** Why the platform closes a connection: a code, or without a reason. */
export type Reason = "drop" | number;

/** How the platform rejects a login. */
export interface LoginFailure {
  readonly code: number;
  /** For 402: when the account may log in again. */
  readonly expireSeconds?: number | undefined;
}

/*
 * The codes and what they mean: Baileys #1490. Only 401 (logged out on the phone, or for no visible reason: #2140),
 * 411, 428, 440, 500, 503 and 515 close an open connection. 402 (banned for a time), 403 (locked), 405 (version too
 * old: #1937, #2733), 406 (banned) and 409 (user agent rejected) answer a login.
 */

/** The stanza that closes an open connection, in the form in which the client derives its code from it. */
export const closingOf = (code: number): BinaryNode => {
  const conflict = (type: string) => [element("conflict", { type })];
  switch (code) {
    case 401:
      return element("stream:error", { code: "401" }, conflict("device_removed"));
    case 411:
      return element("ib", {}, [element("downgrade_webclient")]);
    case 428:
      return element("xmlstreamend");
    case 440:
      // only the conflict identifies it
      return element("stream:error", {}, conflict("replaced"));
    case 500:
      return element("stream:error", {}, [element("xml-not-well-formed")]);
    default:
      return element("stream:error", { code: String(code) });
  }
};

/** The reply to a rejected login. Only whatsmeow (`handleConnectFailure`) reads the attributes of 402 and 403. */
export const failureOf = ({ code, expireSeconds }: LoginFailure): BinaryNode => {
  const attrs = { reason: String(code), location: "cln" };
  if (code === 402)
    return element("failure", {
      ...attrs,
      code: "101",
      ...(expireSeconds !== undefined && { expire: String(expireSeconds) }),
    });
  if (code === 403)
    return element("failure", {
      ...attrs,
      logout_message_header: "Account locked",
      logout_message_subtext: "Open WhatsApp on the phone",
    });
  return element("failure", attrs);
};
