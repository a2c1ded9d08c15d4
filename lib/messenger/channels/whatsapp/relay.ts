import type { BinaryNode, WASocket } from "baileys";
import { deadline } from "#lib/deadline.ts";
import { ChannelFailure, type SendOutcome } from "../channel.ts";
import { decompose } from "./composition.ts";
import { type SendProgress, sendProgress } from "./signal-repository.ts";

export interface SendOptions {
  readonly payload: Uint8Array;
  /** The account's jid. */
  readonly own: string;
  /** Aborted when the connection has ended. */
  readonly lost: AbortSignal;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A receipt counts as an ack: the recipient's phone got the message from the platform. */
const outcomeOf = ({ tag, attrs }: BinaryNode): SendOutcome | undefined => {
  if (tag === "ack") return attrs.error ? { outcome: "refused", code: attrs.error } : { outcome: "acked" };
  return tag === "receipt" ? { outcome: "acked" } : undefined;
};

/** Listens for the platform's answer to a message. baileys' `waitForMessage` misses some closed connections. */
const listen = (socket: WASocket, id: string) => {
  const { promise, resolve } = Promise.withResolvers<SendOutcome>();
  const onNode = (node: BinaryNode) => {
    const outcome = outcomeOf(node);
    if (outcome) resolve(outcome);
  };
  socket.ws.on(`TAG:${id}`, onNode);
  return { answer: promise, stop: () => socket.ws.off(`TAG:${id}`, onNode) };
};

/**
 * Throws unless the recipient has a device: baileys would send a message to nobody, even when the query for
 * the devices just got no answer.
 */
const requireDevices = async (socket: WASocket, own: string, jid: string): Promise<void> => {
  const [user = ""] = jid.split("@");
  // the same query as `relayMessage` makes, which then finds the answer in its cache
  const devices = await socket.getUSyncDevices([own, jid], true, false);
  if (devices.some((device) => device.user === user)) return;
  const answers = await socket.onWhatsApp(user);
  if (!answers) throw new ChannelFailure("no-answer", false);
  throw new ChannelFailure(answers.some(({ exists }) => exists) ? "failed" : "no-recipient", false);
};

/**
 * Sends a composed message and waits for the platform's answer. The listener is added before the frame
 * leaves: for a positive answer baileys emits no event.
 *
 * @throws ChannelFailure that says whether the message may have left. After a lost connection that is known;
 *   after a timeout or an abort the library may still be about to send.
 */
export const send = async (socket: WASocket, options: SendOptions): Promise<SendOutcome> => {
  const { own, lost, signal, timeoutMs } = options;
  const { id, jid, message } = decompose(options.payload);
  if (signal.aborted) throw new ChannelFailure("aborted", false);
  if (lost.aborted) throw new ChannelFailure("connection-lost", false);
  const progress: SendProgress = { isEncrypted: false, mayHaveLeft: false };
  const { answer, stop } = listen(socket, id);
  const relay = async () => {
    await requireDevices(socket, own, jid);
    await socket.relayMessage(jid, message, { messageId: id });
  };
  const answered = sendProgress
    .run(progress, relay)
    .catch((cause: unknown) => {
      // an error after the frame left, such as in a commit of what is stored already, is not a failed send
      if (progress.mayHaveLeft) return;
      if (cause instanceof ChannelFailure) throw cause;
      throw new ChannelFailure(socket.ws.isOpen ? "failed" : "connection-lost", false, cause);
    })
    .then(() => answer);
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new ChannelFailure("aborted", true));
  signal.addEventListener("abort", abort, { once: true });
  const lose = () => reject(new ChannelFailure("connection-lost", progress.mayHaveLeft));
  lost.addEventListener("abort", lose, { once: true });
  try {
    const noAnswer = () => new ChannelFailure("no-answer", true);
    return await deadline(Promise.race([answered, interrupted]), timeoutMs, noAnswer);
  } finally {
    signal.removeEventListener("abort", abort);
    lost.removeEventListener("abort", lose);
    stop();
  }
};
