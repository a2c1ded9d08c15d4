import * as z from "zod/mini";
import type { LoginFailure } from "./closing.ts";
import { Contacts } from "./contacts.ts";
import { NewChats } from "./new-chats.ts";
import { TokenDemand } from "./privacy-tokens.ts";

const count = z.int().check(z.minimum(0));
const milliseconds = z.int().check(z.minimum(0), z.maximum(600_000));
const code = z.int().check(z.minimum(100), z.maximum(999));
const receipt = z.enum(["delivered", "read"]);

export const maxMediaHosts = 3;
const mediaHost = z.union([code, z.literal("unreachable")]);
export type MediaHost = z.infer<typeof mediaHost>;

export type Receipt = z.infer<typeof receipt>;

/** How the platform behaves; the defaults are correct behaviour. Counts decrease as they are used. */
export const Behaviour = z.strictObject({
  /** Drops the socket instead of acknowledging this many messages, after they reached the phone. */
  dropBeforeAck: z._default(count, 0),
  /** Drops the socket instead of delivering this many messages. */
  dropUndelivered: z._default(count, 0),
  /**
   * Rejects messages with this code: all, the next few, or only those to a number. 400, 463, 475 and 479 have their threads
   * in lib/channels/whatsapp/codes.ts. 421 and 500 are in WhatsApp Web's `NackReason`
   * (`WAWebCreateNackFromStanza`: StaleGroupAddressingMode, UnhandledError), other 5xx in `NACK_REASONS` of Baileys'
   * lib/Utils/decode-wa-message.js. No thread describes 429 or 503 for a message: they are what queries get ("rate-overlimit",
   * Baileys #797; "service-unavailable", whatsmeow #53).
   */
  nack: z.optional(z.strictObject({ code, messages: z.optional(count), to: z.optional(z.string()) })),
  /**
   * Rejects messages to a number, or to all, until the client has queried its devices and keys after a rejection.
   * @see https://github.com/tulir/whatsmeow/issues/922
   */
  stale: z.optional(z.strictObject({ code, to: z.optional(z.string()) })),
  newChats: z.prefault(NewChats, {}),
  /** False: messages reach the phone but are never acknowledged. */
  ack: z._default(z.boolean(), true),
  ackDelayMs: z._default(milliseconds, 0),
  /**
   * Sends the client one message at a time, and the next after an ack without an error: what has none stays at the head of
   * the queue, also at each login, and holds all others back (Baileys #2779, whatsapp-rust #647).
   */
  cleanAcks: z._default(z.boolean(), false),
  /** Misses this many of the client's acks, so that it delivers handled messages again (whatsapp-rust #647). */
  missAcks: z._default(count, 0),
  /** Delays the acks of messages to one number only: a send may hang on a text too (NousResearch/hermes-agent #26228). */
  slowNumber: z.optional(z.strictObject({ to: z.string(), ackDelayMs: milliseconds })),
  /** The receipts that a phone sends, in order. */
  receipts: z._default(z.array(receipt), ["delivered"]),
  /** Delay before each receipt. The client reports only the last of several simultaneous receipts. */
  receiptDelayMs: z._default(milliseconds, 0),
  /** True: receipts are sent before the ack. */
  receiptsBeforeAck: z._default(z.boolean(), false),
  /** The phone treats this many messages as unreadable and requests them again, five at the most (whatsmeow #160). */
  askAgain: z._default(count, 0),
  /** Whether a phone requests a message again that it cannot decrypt. */
  askAgainOnFailure: z._default(z.boolean(), true),
  /**
   * The fewest one-time keys of its own that a client is told are left. WhatsApp tells a new client 0, which then makes 812
   * in half a second (`INITIAL_PREKEY_COUNT` of Baileys); told 1, it makes 5.
   */
  leastKeys: z._default(count, 1),
  /** Whether a login closes the same device's older connection with 440, as WhatsApp does. */
  replaceOlder: z._default(z.boolean(), true),
  /** Rejects logins: all, or the next few; see closing.ts. */
  loginFailure: z.optional(
    z.strictObject({ code, expireSeconds: z.optional(count), logins: z.optional(count) }),
  ),
  /** Rejects logins of clients with an older revision (Baileys #2733: "client_too_old"). */
  minRevision: z._default(count, 0),
  /**
   * The revision of the web client that `versionUrl` serves, in the form of WhatsApp's sw.js (Baileys #1234); nothing is
   * served without one, as when WhatsApp rejects the request (Baileys #1929).
   */
  webRevision: z.optional(count),
  /** Linking demands a passkey after the scan or the code (Baileys #2672, OpenWA #560). */
  passkey: z._default(z.boolean(), false),
  /** Delay before the answer to a media upload, which may hang for ever (NousResearch/hermes-agent #26228). */
  mediaDelayMs: z._default(milliseconds, 0),
  contacts: z.prefault(Contacts, {}),
  /** Whether messages need privacy tokens; by default not. */
  tokens: z.optional(TokenDemand),
  /**
   * The hosts in media_conn, each with the HTTP status of its uploads (Baileys #1360: some fail in turn, all fail for
   * accounts whose hosts are blocked).
   */
  mediaHosts: z._default(z.array(mediaHost).check(z.minLength(1), z.maxLength(maxMediaHosts)), [200]),
  /** USync, the directory of numbers and devices, answers with an error (Baileys #1851 and others: "rate-overlimit", 503). */
  failDirectory: z._default(z.boolean(), false),
  /**
   * Answers this many queries for media_conn with an error, which no thread describes: whatsmeow's mediaconn.go
   * (`queryMediaConn`) expects it, like one of any query (503: whatsmeow #53).
   */
  failMediaConn: z._default(count, 0),
  /**
   * The auth of media_conn expires with this many uploads: 401 until it is queried again. No thread describes it: media_conn
   * has an `auth_ttl` (whatsmeow's mediaconn.go), and Baileys queries it again after a failed upload
   * (lib/Utils/messages-media.js, `getWAUploadToServer`).
   */
  expireMediaAuth: z._default(count, 0),
  /** Phones lose the session, as after a restored backup, before this many messages (zapo #262, ha-addons #145). */
  loseSession: z._default(count, 0),
  /** Phones have used up the one-time key of this many new sessions: "Invalid PreKey ID" (Baileys #54). */
  usedPreKeys: z._default(count, 0),
  /** Queries for the keys of this number get no answer (Baileys #1851). */
  silentKeysOf: z.optional(z.string()),
  /**
   * Phones, or their companions, have no keys: the answer leaves them out, or has an error for each, such as 404 for a
   * companion that is listed but not set up yet (Baileys #1851). The account's companions are among them.
   */
  keyless: z.optional(
    z.strictObject({ of: z.enum(["phones", "companions"]), answer: z.enum(["absent", "error"]) }),
  ),
  /** False: new sessions get no one-time key, because all are used up (X3DH, 3.3: the key is optional). */
  oneTimeKeys: z._default(z.boolean(), true),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** The deviations from correct behaviour. */
export type FailureModes = z.input<typeof Behaviour>;

type Count =
  | "dropBeforeAck"
  | "dropUndelivered"
  | "askAgain"
  | "failMediaConn"
  | "missAcks"
  | "expireMediaAuth"
  | "loseSession"
  | "usedPreKeys";

/** Decrements a count. @returns false if it was 0. */
export const spend = (behaviour: Behaviour, what: Count): boolean => {
  if (behaviour[what] === 0) return false;
  behaviour[what] -= 1;
  return true;
};

export const ackDelayOf = ({ slowNumber, ackDelayMs }: Behaviour, number: string | undefined): number =>
  slowNumber && slowNumber.to === number ? slowNumber.ackDelayMs : ackDelayMs;

/** Returns the code with which a message to this number is rejected, if any. */
export const nackOf = ({ nack }: Behaviour, number: string): number | undefined => {
  if (!nack || (nack.to !== undefined && nack.to !== number) || nack.messages === 0) return undefined;
  if (nack.messages !== undefined) nack.messages -= 1;
  return nack.code;
};

/** Returns how this login is rejected, if it is. */
export const rejectionOf = (behaviour: Behaviour, revision: number): LoginFailure | undefined => {
  const { loginFailure, minRevision } = behaviour;
  if (revision < minRevision) return { code: 405 };
  if (!loginFailure || loginFailure.logins === 0) return undefined;
  if (loginFailure.logins !== undefined) loginFailure.logins -= 1;
  return loginFailure;
};
