import { isLidUser, type WASocket } from "baileys";
import type { SendOutcome } from "../../channel.ts";
import { askDirectory } from "./number-lookup.ts";

/*
 * A contact has a number and a LID, an id that does not reveal the number. WhatsApp migrates accounts and contacts from
 * the one to the other: a migrated contact is not reached by number (463, or no devices), and an account that is not
 * migrated may not use LIDs (400).
 */

/** What came of sending to one address; `no-device`: the platform lists none, so that nothing was sent. */
export type Attempt = SendOutcome | "no-device";

/** Connections whose account is not migrated. */
const unmigrated = new WeakSet<WASocket>();

/** Returns the LID of a number as stored, or asks the platform for it. */
const findLid = async (socket: WASocket, jid: string): Promise<string | undefined> => {
  if (!socket.authState.creds.me?.lid) return undefined;
  return (await askDirectory(socket.signalRepository.lidMapping.getLIDForPN(jid))) ?? undefined;
};

/** Returns the address that a number is sent to first. */
const firstAddress = async (socket: WASocket, jid: string): Promise<string> =>
  unmigrated.has(socket) ? jid : ((await findLid(socket, jid)) ?? jid);

const isRejected = (attempt: Attempt, code: string): boolean =>
  attempt !== "no-device" && attempt.outcome === "rejected" && attempt.code === code;

/**
 * Sends to the LID where account and contact have one, and once to the other address where the first is wrong.
 *
 * @param jid the number's.
 * @param sendTo sends to an address, each time under the same message id.
 */
export const sendToEither = async (
  socket: WASocket,
  jid: string,
  sendTo: (address: string) => Promise<Attempt>,
): Promise<Attempt> => {
  const first = await firstAddress(socket, jid);
  const wasLid = isLidUser(first) === true;
  const attempt = await sendTo(first);
  if (attempt !== "no-device" && !isRejected(attempt, wasLid ? "400" : "463")) return attempt;
  const other = wasLid ? jid : await findLid(socket, jid);
  if (!other) return attempt;
  const second = await sendTo(other);
  // the other address is wrong as well: what the first was refused for says more
  if (second === "no-device" || (!wasLid && isRejected(second, "400"))) return attempt;
  if (second.outcome === "acked") {
    if (!wasLid) unmigrated.delete(socket);
    else if (attempt !== "no-device") unmigrated.add(socket);
  }
  return second;
};
