import * as z from "zod/mini";

const count = z.int().check(z.minimum(0));
const milliseconds = z.int().check(z.minimum(0), z.maximum(600_000));
const code = z.int().check(z.minimum(100), z.maximum(999));
const receipt = z.enum(["delivered", "read"]);

export type Receipt = z.infer<typeof receipt>;
export const Receipts = z.array(receipt);

/** How the platform behaves; what is left out is as it should be. Counts go down as they are used up. */
export const Behaviour = z.strictObject({
  /** The socket is dropped in place of the ack of this many messages, after they reached the phone. */
  dropBeforeAck: z._default(count, 0),
  /** The socket is dropped on this many messages, which reach nobody. */
  dropUndelivered: z._default(count, 0),
  /** Messages are refused with this code, and reach nobody: all, or the next few, or only those to a number. */
  nack: z.optional(z.strictObject({ code, messages: z.optional(count), to: z.optional(z.string()) })),
  /** False: messages reach the phone and no ack ever comes. */
  ack: z._default(z.boolean(), true),
  ackDelayMs: z._default(milliseconds, 0),
  /** Which receipts a phone sends, and in which order. */
  receipts: z._default(Receipts, ["delivered"]),
  /** Before each of them. The client tells only of the last of several that come at once. */
  receiptDelayMs: z._default(milliseconds, 0),
  /** True: receipts overtake the ack. */
  receiptsBeforeAck: z._default(z.boolean(), false),
  /** This many messages are taken for unreadable: the phone asks for them again. */
  askAgain: z._default(count, 0),
  /** Whether a phone asks again for a message that it truly cannot read. */
  askAgainOnFailure: z._default(z.boolean(), true),
  /** Whether a login ends the older connection of the same device with 440, as WhatsApp does. */
  replaceOlder: z._default(z.boolean(), true),
  /** Every login fails with this code. */
  loginFailure: z.optional(code),
  /** What media uploads are answered with. */
  mediaStatus: z._default(code, 200),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** A behaviour of which only what is wrong has to be given. */
export type Misbehaviour = z.input<typeof Behaviour>;

type Count = "dropBeforeAck" | "dropUndelivered" | "askAgain";

/** Uses one up. @returns false when none was left. */
export const spend = (behaviour: Behaviour, what: Count): boolean => {
  if (behaviour[what] === 0) return false;
  behaviour[what] -= 1;
  return true;
};

/** @returns the code that a message to this number is refused with. */
export const refusalOf = ({ nack }: Behaviour, number: string): number | undefined => {
  if (!nack || (nack.to !== undefined && nack.to !== number) || nack.messages === 0) return undefined;
  if (nack.messages !== undefined) nack.messages -= 1;
  return nack.code;
};
