import type { BinaryNode, WASocket } from "baileys";
import { deadline, untilAborted } from "#lib/deadline.ts";
import { ChannelFailure, type SendOutcome } from "../../channel.ts";
import { type Attempt, sendToEither } from "./address.ts";
import { decompose } from "./composition.ts";
import { type Devices, userOf } from "./devices.ts";
import { askDirectory } from "./number-lookup.ts";
import { givePrivacyToken, openSessions } from "./recipient.ts";
import { type SendProgress, sendProgress } from "./signal-repository.ts";

export interface SendOptions {
  readonly payload: Uint8Array;
  readonly devices: Devices;
  /** Aborted when the connection has ended. */
  readonly lost: AbortSignal;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A receipt counts as an ack: the recipient's phone got the message from the platform. */
const outcomeOf = ({ tag, attrs }: BinaryNode): SendOutcome | undefined => {
  if (tag === "ack") return attrs.error ? { outcome: "rejected", code: attrs.error } : { outcome: "acked" };
  return tag === "receipt" ? { outcome: "acked" } : undefined;
};

/** Listens for the platform's answers to a message. baileys' `waitForMessage` misses some closed connections. */
const listen = (socket: WASocket, id: string) => {
  let resolve: (outcome: SendOutcome) => void = () => {};
  const onNode = (node: BinaryNode) => {
    const outcome = outcomeOf(node);
    if (outcome) resolve(outcome);
  };
  socket.ws.on(`TAG:${id}`, onNode);
  const next = () => {
    const answer = Promise.withResolvers<SendOutcome>();
    resolve = answer.resolve;
    return answer.promise;
  };
  return { next, stop: () => socket.ws.off(`TAG:${id}`, onNode) };
};

/** Explains why a number has no devices: the query for them may just have got no answer. */
const failureWithoutDevices = async (socket: WASocket, jid: string): Promise<ChannelFailure> => {
  const answers = await askDirectory(socket.onWhatsApp(jid));
  if (!answers) return new ChannelFailure("directory-failed", false);
  return new ChannelFailure(answers.some(({ exists }) => exists) ? "no-device" : "not-registered", false);
};

/**
 * Sends a composed message and waits for the platform's answer. The listener is added before the frame
 * leaves: for a positive answer baileys emits no event.
 *
 * @throws ChannelFailure that says whether the message may have left. After a lost connection that is known;
 *   after a timeout or an abort the library may still be about to send. Where one address is rejected and the send to the
 *   other fails before it leaves, the rejection counts: it may forbid another attempt for hours.
 */
export const send = async (socket: WASocket, options: SendOptions): Promise<SendOutcome> => {
  const { devices, lost, signal, timeoutMs } = options;
  const { id, jid, message } = decompose(options.payload);
  if (signal.aborted) throw new ChannelFailure("aborted", false);
  if (lost.aborted) throw new ChannelFailure("connection-lost", false);
  const progress: SendProgress = { isEncrypted: false, mayHaveLeft: false };
  const { next, stop } = listen(socket, id);
  let rejection: SendOutcome | undefined;
  /** Whether the library has the message: then nothing prevents it from sending it. */
  let isHanded = false;
  let isOver = false;
  const sendTo = async (address: string): Promise<Attempt> => {
    const opened = await askDirectory(openSessions(socket, devices, address)).catch((error: unknown) => {
      // the platform has rejected a query: the list may be out of date. An outage says nothing about it
      if (!(error instanceof ChannelFailure)) devices.del(userOf(address));
      throw error;
    });
    if (!opened) return "no-device";
    devices.recordUse(jid, opened.users);
    let answer: Promise<SendOutcome>;
    try {
      await givePrivacyToken(socket, address);
      if (isOver) throw new ChannelFailure("aborted", false);
      isHanded = true;
      answer = next();
      await socket.relayMessage(address, message, { messageId: id }).catch((cause: unknown) => {
        // an error after the frame left, such as in a commit of what is stored already, is not a failed send
        if (!progress.mayHaveLeft) throw cause;
      });
    } finally {
      opened.release();
    }
    const outcome = await answer;
    if (outcome.outcome === "rejected") {
      // 400 may concern the LID only
      if (outcome.code !== "400") rejection = outcome;
      isHanded = false;
      Object.assign(progress, { isEncrypted: false, mayHaveLeft: false });
    }
    return outcome;
  };
  const relay = async (): Promise<SendOutcome> => {
    const attempt = await sendToEither(socket, jid, sendTo);
    if (attempt === "no-device") throw await failureWithoutDevices(socket, jid);
    return attempt;
  };
  const answered = sendProgress.run(progress, relay).catch((cause: unknown) => {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(socket.ws.isOpen ? "failed" : "connection-lost", false, cause);
  });
  try {
    const unlessStopped = untilAborted(answered, signal, () => new ChannelFailure("aborted", isHanded));
    const lose = () => new ChannelFailure("connection-lost", progress.mayHaveLeft);
    const noAnswer = () => new ChannelFailure(isHanded ? "no-answer" : "directory-failed", isHanded);
    return await deadline(untilAborted(unlessStopped, lost, lose), timeoutMs, noAnswer);
  } catch (error) {
    if (rejection && error instanceof ChannelFailure && !error.mayHaveLeft) return rejection;
    throw error;
  } finally {
    isOver = true;
    stop();
  }
};
