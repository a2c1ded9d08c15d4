import * as z from "zod/mini";

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
  /** Rejects messages with this code: all, the next few, or only those to a number. */
  nack: z.optional(z.strictObject({ code, messages: z.optional(count), to: z.optional(z.string()) })),
  /** False: messages reach the phone but are never acknowledged. */
  ack: z._default(z.boolean(), true),
  ackDelayMs: z._default(milliseconds, 0),
  /** The receipts that a phone sends, in order. */
  receipts: z._default(z.array(receipt), ["delivered"]),
  /** Delay before each receipt. The client reports only the last of several simultaneous receipts. */
  receiptDelayMs: z._default(milliseconds, 0),
  /** True: receipts are sent before the ack. */
  receiptsBeforeAck: z._default(z.boolean(), false),
  /** The phone treats this many messages as unreadable and requests them again. */
  askAgain: z._default(count, 0),
  /** Whether a phone requests a message again that it cannot decrypt. */
  askAgainOnFailure: z._default(z.boolean(), true),
  /** Whether a login closes the same device's older connection with 440, as WhatsApp does. */
  replaceOlder: z._default(z.boolean(), true),
  /** Rejects every login with this code. */
  loginFailure: z.optional(code),
  /**
   * The hosts in media_conn, each with the HTTP status of its uploads (Baileys #1360: some fail in turn, all fail for
   * accounts whose hosts are blocked).
   */
  mediaHosts: z._default(z.array(mediaHost).check(z.minLength(1), z.maxLength(maxMediaHosts)), [200]),
  /** Answers this many queries for media_conn with an error. */
  failMediaConn: z._default(count, 0),
  /** The auth of media_conn expires with this many uploads: 401 until it is queried again (Baileys' `refreshMediaConn`). */
  expireMediaAuth: z._default(count, 0),
  /** Phones lose the session, as after a restored backup, before this many messages (zapo #262, ha-addons #145). */
  loseSession: z._default(count, 0),
  /** Phones have used up the one-time key of this many new sessions: "Invalid PreKey ID" (Baileys #54). */
  usedPreKeys: z._default(count, 0),
  /** False: new sessions get no one-time key, because all are used up (X3DH, 3.3: the key is optional). */
  oneTimeKeys: z._default(z.boolean(), true),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** The deviations from correct behaviour. */
export type Misbehaviour = z.input<typeof Behaviour>;

type Count =
  | "dropBeforeAck"
  | "dropUndelivered"
  | "askAgain"
  | "failMediaConn"
  | "expireMediaAuth"
  | "loseSession"
  | "usedPreKeys";

/** Decrements a count. @returns false if it was 0. */
export const spend = (behaviour: Behaviour, what: Count): boolean => {
  if (behaviour[what] === 0) return false;
  behaviour[what] -= 1;
  return true;
};

/** Returns the code with which a message to this number is rejected, if any. */
export const refusalOf = ({ nack }: Behaviour, number: string): number | undefined => {
  if (!nack || (nack.to !== undefined && nack.to !== number) || nack.messages === 0) return undefined;
  if (nack.messages !== undefined) nack.messages -= 1;
  return nack.code;
};
