import type { WASocket } from "baileys";
import { whileOpen } from "./answer.ts";
import type { Connection } from "./connection.ts";

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
