import type { WASocket } from "baileys";
import { untilAborted } from "#lib/deadline.ts";
import { ChannelFailure } from "../channel.ts";
import type { Connection } from "./connection.ts";

/** Rejects as soon as the connection ends: baileys waits 20 s for an answer that cannot arrive any more. */
export const whileOpen = <T>(answer: Promise<T>, lost: AbortSignal): Promise<T> =>
  untilAborted(answer, lost, () => new ChannelFailure("connection-lost", false));

/** Converts errors of the library, which contain stanzas, to a ChannelFailure. */
export const wrapErrors = async <T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(signal?.aborted ? "aborted" : "failed", false, cause);
  }
};

const timeoutMs = 5_000;
const server = "s.whatsapp.net";

const removalOf = ({ authState, generateMessageTag }: WASocket) => ({
  tag: "iq",
  attrs: { to: server, type: "set", xmlns: "md", id: generateMessageTag() },
  content: [
    {
      tag: "remove-companion-device",
      attrs: { jid: authState.creds.me?.id ?? "", reason: "user_initiated" },
    },
  ],
});

/**
 * Removes this device from the account. baileys' `logout` does not wait for the answer.
 *
 * @returns whether the platform has confirmed it; if not, the phone may still list the device.
 */
export const logOut = ({ socket, lost }: Connection): Promise<boolean> =>
  whileOpen(socket.query(removalOf(socket), timeoutMs), lost).then(
    () => true,
    () => false,
  );
