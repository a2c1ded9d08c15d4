import {
  isLidUser,
  jidDecode,
  jidNormalizedUser,
  parseAndInjectE2ESessions,
  S_WHATSAPP_NET,
  unixTimestampSeconds,
  type WASocket,
} from "baileys";
import {
  resolveIssuanceJid,
  resolveTcTokenJid,
  shouldSendNewTcToken,
  storeTcTokensFromIqResult,
} from "baileys/lib/Utils/tc-token-utils.js";
import { deadline } from "#lib/deadline.ts";
import { ChannelFailure } from "../../channel.ts";
import { type Devices, userOf } from "./devices.ts";
import { askDirectory } from "./number-lookup.ts";

const isPhone = (jid: string): boolean => !jidDecode(jid)?.device;

/** Lists the devices of numbers without a LID. */
const listWithoutLid = async ({ signalRepository }: WASocket, jids: readonly string[]) => {
  const numbers = jids.filter((jid) => !isLidUser(jid));
  const mapped = await signalRepository.lidMapping.getLIDsForPNs(numbers);
  return numbers.filter((jid) => !mapped?.some(({ pn }) => pn === jid));
};

/** Queries keys by number. baileys does so by LID only: it would leave out a number without one. */
const openWithoutLid = async (socket: WASocket, jids: readonly string[], isForced: boolean) => {
  const users = jids.map((jid) => ({
    tag: "user",
    attrs: { jid, ...(isForced && { reason: "identity" }) },
  }));
  const answer = await socket.query({
    tag: "iq",
    attrs: { xmlns: "encrypt", type: "get", to: S_WHATSAPP_NET },
    content: [{ tag: "key", attrs: {}, content: users }],
  });
  await parseAndInjectE2ESessions(answer, socket.signalRepository);
};

const assertSessions = async (socket: WASocket, jids: readonly string[], isForced: boolean) => {
  const numbers = await listWithoutLid(socket, jids);
  const others = jids.filter((jid) => !numbers.includes(jid));
  if (others.length > 0) await socket.assertSessions(others, isForced);
  if (numbers.length > 0) await openWithoutLid(socket, numbers, isForced);
};

/**
 * Queries the keys of devices and opens Signal sessions with them. A device without keys fails the query for all: then
 * each is queried alone. Only the failure of a phone counts: a companion that is being linked has no keys yet.
 */
const queryKeys = async (socket: WASocket, jids: readonly string[], isForced: boolean): Promise<void> => {
  try {
    await askDirectory(assertSessions(socket, jids, isForced));
  } catch (error) {
    // without an answer for all there would be none for each, and each query takes its time
    const isAnswered = !(error instanceof ChannelFailure);
    if (jids.length > 1 && isAnswered) for (const jid of jids) await queryKeys(socket, [jid], isForced);
    else if (jids.some(isPhone)) throw error;
  }
};

/** Lists the devices without a Signal session. */
const listWithoutSession = async ({ signalRepository }: WASocket, jids: readonly string[]) => {
  const validated = await Promise.all(jids.map((jid) => signalRepository.validateSession(jid)));
  return jids.filter((_, index) => !validated[index]?.exists);
};

/**
 * Opens Signal sessions with the devices of an address and of the account. baileys does so too, but within the account's
 * transaction: a query for keys that gets no answer would hold up the sends to all other numbers (#1851).
 *
 * Companions without keys are left out of the cached devices, from which baileys takes those of the message.
 *
 * @returns the users whose devices the message needs, and what to call when baileys has taken them: the recipient's are
 *   queried again for the next message. Undefined without devices: baileys would send the message to nobody.
 */
export const openSessions = async (socket: WASocket, devices: Devices, address: string) => {
  const { id = "", lid = id } = socket.authState.creds.me ?? {};
  const own = jidNormalizedUser(isLidUser(address) ? lid : id);
  // the same query as `relayMessage` makes, which then finds the answer in its cache
  const found = await socket.getUSyncDevices([own, address], true, false);
  const [user, ownUser] = [userOf(address), userOf(own)];
  if (!found.some((device) => device.user === user)) return undefined;
  // this device is listed with a LID
  const others = found.map(({ jid }) => jid).filter((jid) => jid !== id && jid !== lid);
  let left = await listWithoutSession(socket, others);
  if (left.length > 0) {
    await queryKeys(socket, left, false);
    left = await listWithoutSession(socket, left);
  }
  // baileys reports no query that got no answer, and would ask again within the account's transaction
  if (left.some(isPhone)) throw new ChannelFailure("directory-failed", false);
  for (const one of new Set(left.map(userOf)))
    devices.set(
      one,
      found.filter((device) => device.user === one && !left.includes(device.jid)),
    );
  return {
    users: [user, ownUser],
    release: () => {
      if (left.some((jid) => userOf(jid) === user)) devices.del(user);
    },
  };
};

/**
 * Queries a recipient's devices and their keys, in place of the cached ones, and the account's own devices. New Signal
 * sessions replace those with the old keys.
 */
export const refreshRecipient = async (socket: WASocket, jid: string): Promise<void> => {
  const list = async (address: string) =>
    (await socket.getUSyncDevices([jidNormalizedUser(address)], false, false)).map((device) => device.jid);
  const lid = await socket.signalRepository.lidMapping.getLIDForPN(jid);
  // one by one: the devices of each address are cached separately
  for (const address of lid ? [jid, lid] : [jid]) {
    const devices = await list(address);
    if (devices.length > 0) await queryKeys(socket, devices, true);
  }
  const { me } = socket.authState.creds;
  for (const address of [me?.id, me?.lid]) if (address) await list(address);
};

/**
 * Deletes the LID and the devices of a contact: the platform says in the ack of a message that the number has another LID,
 * which the next message then asks for. Messages to the former one may lead to a ban.
 *
 * @see https://github.com/WhiskeySockets/Baileys/pull/2661
 * @see https://github.com/oxidezap/whatsapp-rust/pull/1313
 */
export const forgetContact = async (
  { authState: { keys }, signalRepository: { lidMapping } }: WASocket,
  devices: Devices,
  address = "",
): Promise<void> => {
  const number = userOf(isLidUser(address) ? ((await lidMapping.getPNForLID(address)) ?? "") : address);
  const { [number]: stored } = await keys.get("lid-mapping", [number]);
  for (const user of [number, stored, userOf(address)]) if (user) devices.del(user);
  if (!stored) return;
  await keys.set({ "lid-mapping": { [number]: null, [`${stored}_reverse`]: null } });
  const { mappingCache } = lidMapping as unknown as { mappingCache: Map<string, string> };
  mappingCache.delete(`pn:${number}`);
  mappingCache.delete(`lid:${stored}`);
};

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
