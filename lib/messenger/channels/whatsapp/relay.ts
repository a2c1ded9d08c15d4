import type { BinaryNode, WASocket } from "baileys";
import type { SendOutcome } from "../channel.ts";
import { ChannelFailure } from "../channel-failure.ts";
import { decompose } from "./composition.ts";
import { type Passage, passages } from "./signal-repository.ts";

export interface SendOptions {
  readonly payload: Uint8Array;
  /** The account's jid. */
  readonly own: string;
  /** Resolves when the connection has ended. */
  readonly lost: Promise<unknown>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A receipt is an answer too: whoever reports it got the message from the platform. */
const outcomeOf = ({ tag, attrs }: BinaryNode): SendOutcome | undefined => {
  if (tag === "ack") return attrs.error ? { outcome: "refused", code: attrs.error } : { outcome: "acked" };
  return tag === "receipt" ? { outcome: "acked" } : undefined;
};

/** Waits for what the platform says to an id. baileys' `waitForMessage` does not notice every end. */
const listen = (socket: WASocket, id: string) => {
  const { promise, resolve } = Promise.withResolvers<SendOutcome>();
  const hear = (node: BinaryNode) => {
    const outcome = outcomeOf(node);
    if (outcome) resolve(outcome);
  };
  socket.ws.on(`TAG:${id}`, hear);
  return { answer: promise, stop: () => socket.ws.off(`TAG:${id}`, hear) };
};

/**
 * Rejects when nothing more is to be awaited. What may have left is asked at that moment: after a lost
 * connection it is known, else the library may still be about to send.
 */
const giveUp = ({ lost, signal, timeoutMs }: SendOptions, passage: Passage) => {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const abort = () => reject(new ChannelFailure("aborted", true));
  const timer = setTimeout(() => reject(new ChannelFailure("no-answer", true)), timeoutMs);
  signal.addEventListener("abort", abort, { once: true });
  lost.then(() => reject(new ChannelFailure("connection-lost", passage.mayHaveLeft)));
  return {
    promise,
    stop() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
};

/**
 * The recipient must have a device: baileys would send a message for nobody, also where the question for
 * the devices was only not answered.
 */
const requireDevices = async (socket: WASocket, own: string, jid: string): Promise<void> => {
  const [user = ""] = jid.split("@");
  // asked as `relayMessage` will, which then finds the answer in its cache
  const devices = await socket.getUSyncDevices([own, jid], true, false);
  if (devices.some((device) => device.user === user)) return;
  const answers = await socket.onWhatsApp(user);
  if (!answers) throw new ChannelFailure("no-answer", false);
  throw new ChannelFailure(answers.some(({ exists }) => exists) ? "failed" : "no-recipient", false);
};

/**
 * Sends a composed message and waits for the platform's answer, which is listened for before the frame
 * leaves: for a positive one baileys emits nothing.
 *
 * @throws ChannelFailure that says whether the message may have left.
 */
export const send = async (socket: WASocket, options: SendOptions): Promise<SendOutcome> => {
  const { own } = options;
  const { id, jid, message } = decompose(options.payload);
  if (options.signal.aborted) throw new ChannelFailure("aborted", false);
  const passage: Passage = { isEncrypted: false, mayHaveLeft: false };
  const { answer, stop } = listen(socket, id);
  const end = giveUp(options, passage);
  const relay = passages.run(passage, async () => {
    await requireDevices(socket, own, jid);
    await socket.relayMessage(jid, message, { messageId: id });
  });
  try {
    const relayed = relay.catch((cause: unknown) => {
      // what failed after the frame left, such as a commit of what is stored already, is no failure of the send
      if (passage.mayHaveLeft) return;
      if (cause instanceof ChannelFailure) throw cause;
      throw new ChannelFailure(socket.ws.isOpen ? "failed" : "connection-lost", false, cause);
    });
    await Promise.race([relayed, end.promise]);
    return await Promise.race([answer, end.promise]);
  } finally {
    relay.catch(() => {});
    end.stop();
    stop();
  }
};
