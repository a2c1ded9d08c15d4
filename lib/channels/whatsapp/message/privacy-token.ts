import { unixTimestampSeconds, type WASocket } from "baileys";
import {
  resolveIssuanceJid,
  resolveTcTokenJid,
  shouldSendNewTcToken,
  storeTcTokensFromIqResult,
} from "baileys/lib/Utils/tc-token-utils.js";
import { deadline } from "#lib/deadline.ts";

/** A message is also sent without a token; the platform may accept it. */
const timeoutMs = 5_000;

const give = async (socket: WASocket, to: string): Promise<void> => {
  const { keys } = socket.authState;
  const { lidMapping } = socket.signalRepository;
  const getLIDForPN = (jid: string) => lidMapping.getLIDForPN(jid);
  const getPNForLID = (jid: string) => lidMapping.getPNForLID(jid);
  const contact = await resolveTcTokenJid(to, getLIDForPN);
  const read = async () => (await keys.get("tctoken", [contact]))[contact];
  if (!shouldSendNewTcToken((await read())?.senderTimestamp)) return;
  const now = unixTimestampSeconds();
  const toLid = socket.serverProps.lidTrustedTokenIssueToLid;
  const recipient = await resolveIssuanceJid(to, toLid, getLIDForPN, getPNForLID);
  const result = await socket.issuePrivacyTokens([recipient], now);
  await storeTcTokensFromIqResult({ result, fallbackJid: contact, keys, getLIDForPN });
  const entry = { token: Buffer.alloc(0), ...(await read()), senderTimestamp: now };
  await keys.set({ tctoken: { [contact]: entry } });
};

/**
 * Gives a contact the account's privacy token, once a week; without it the platform may answer 463.
 *
 * baileys does so after the send, but within its finished transaction, which stores nothing: it would ask the platform
 * for each message.
 */
export const givePrivacyToken = (socket: WASocket, to: string): Promise<void> =>
  deadline(give(socket, to), timeoutMs, () => new Error("no answer")).catch(() => {});
