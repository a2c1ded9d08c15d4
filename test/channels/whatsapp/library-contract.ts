import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as baileys from "baileys";
import WebSocket from "ws";

/*
 * What the messenger relies on in baileys beyond its documented interface: private members, objects that it changes,
 * defects that it works around, and the order of calls inside. An upgrade that changes one of these compiles and may
 * still send unreadable messages. Then run `npm run lab -- platform-check` with a real phone.
 */

/** The only version that this list was compared with. */
export const comparedVersion = "7.0.0-rc14";

const folder = dirname(createRequire(import.meta.url).resolve("baileys"));
const source = (path: string): string => readFileSync(join(folder, path), "utf8");

export const installedVersion: string = JSON.parse(source("../package.json")).version;

/** A socket that the messenger has not changed. Nothing listens on port 9. */
const openSocket = () => {
  const socket = baileys.makeWASocket({
    auth: { creds: baileys.initAuthCreds(), keys: { get: () => ({}), set: () => {} } },
    logger: { ...quiet, child: () => quiet },
    waWebSocketUrl: "ws://127.0.0.1:9/",
  });
  socket.ev.on("connection.update", () => {});
  return socket;
};
const ignore = () => {};
const quiet = {
  level: "silent",
  child: () => quiet,
  ...{ trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
};

/** Runs a check on a socket and closes it. */
const onSocket = async (check: (socket: baileys.WASocket) => boolean): Promise<boolean> => {
  const socket = openSocket();
  try {
    return check(socket);
  } finally {
    await socket.end(undefined).catch(ignore);
  }
};

/** Whether all of these texts occur in a file of the library, in this order. */
const inOrder = (path: string, ...texts: readonly string[]): boolean => {
  const text = source(path);
  let at = 0;
  return texts.every((one) => {
    at = text.indexOf(one, at) + 1;
    return at > 0;
  });
};

interface Reliance {
  /** What is true of the library. */
  readonly that: string;
  /** The code that relies on it, as it stands in `file`, below lib/channels/whatsapp. */
  readonly file: string;
  readonly code: string;
  /** What to look at when it is no longer true. */
  readonly look: string;
  readonly holds: () => boolean | Promise<boolean>;
}

export const reliances: readonly Reliance[] = [
  {
    that: "accepts forged signatures, so the messenger replaces Curve.verify",
    file: "connection.ts",
    code: "baileys.Curve.verify = verifySignature",
    look: "If baileys verifies signatures itself now, delete verifySignature in library-log.ts. If Curve is frozen or renamed, find another way before any release: otherwise every server is trusted.",
    holds: () => {
      const { public: key } = baileys.Curve.generateKeyPair();
      return (
        baileys.Curve.verify(key, Buffer.from("text"), Buffer.alloc(64)) && !Object.isFrozen(baileys.Curve)
      );
    },
  },
  {
    that: "calls Curve.verify as a member for the server's certificates and for the account's signature",
    file: "connection.ts",
    code: "baileys.Curve.verify = verifySignature",
    look: "A call by another name passes by the replacement in connection.ts.",
    holds: () =>
      inOrder(
        "Utils/noise-handler.js",
        "Curve.verify(details.key",
        "Curve.verify(WA_CERT_DETAILS.PUBLIC_KEY",
      ) && inOrder("Utils/validate-connection.js", "Curve.verify(accountSignatureKey"),
  },
  {
    that: "reads WhatsApp's root key from WA_CERT_DETAILS, which can be replaced",
    file: "connection.ts",
    code: "baileys.WA_CERT_DETAILS.PUBLIC_KEY = ",
    look: "A new key: compare it with WhatsApp Web's. Frozen or moved: the tests cannot reach the simulated platform.",
    holds: () =>
      !Object.isFrozen(baileys.WA_CERT_DETAILS) &&
      baileys.WA_CERT_DETAILS.SERIAL === 0 &&
      baileys.WA_CERT_DETAILS.PUBLIC_KEY.toString("hex") ===
        "142375574d0a587166aae71ebe516437c4a28b73e3695c6ce1f7f9545da8ee6b",
  },
  {
    that: "has its ws socket in the member `socket` from the start",
    file: "connection.ts",
    code: "socket.ws as unknown as",
    look: "watch() in connection.ts wraps send() and close() of it: it would no longer know whether a message may have left.",
    holds: () => onSocket(({ ws }) => (ws as unknown as { socket?: unknown }).socket instanceof WebSocket),
  },
  {
    that: "sends and closes through that member alone",
    file: "connection.ts",
    code: "raw.send = ",
    look: "watch() in connection.ts.",
    holds: () => inOrder("Socket/Client/websocket.js", "this.socket.close()", "this.socket?.send(str, cb)"),
  },
  {
    that: "collects sent messages in messageRetryManager.addRecentMessage",
    file: "connection.ts",
    code: "socket.messageRetryManager.addRecentMessage = ",
    look: "If it collects them elsewhere, memory grows by 64 KiB for each message of the last five minutes: run npm run bench -- memory.",
    holds: async () =>
      inOrder("Socket/messages-send.js", "messageRetryManager.addRecentMessage(") &&
      (await onSocket(
        ({ messageRetryManager }) => typeof messageRetryManager?.addRecentMessage === "function",
      )),
  },
  {
    that: "caches LIDs in mappingCache, and calls only its get, set and clear",
    file: "message/signal-repository.ts",
    code: "Object.assign(repository.lidMapping, { mappingCache",
    look: "BoundedMap in devices.ts must have every method that is called; without it memory grows by 60 KiB for each recipient: run npm run bench -- memory.",
    holds: async () => {
      const calls = source("Signal/lid-mapping.js").matchAll(/this\.mappingCache\.(\w+)\(/g);
      const names = new Set([...calls].map(([, name = ""]) => name));
      const isThere = await onSocket(({ signalRepository }) => "mappingCache" in signalRepository.lidMapping);
      return isThere && [...names].toSorted().join() === "clear,get,set";
    },
  },
  {
    that: "gives the Signal repository a key store with transactions, whose members can be copied",
    file: "message/signal-repository.ts",
    code: '"isInTransaction" in keys',
    look: "writeThrough() in signal-repository.ts stores each session before its message leaves, and nothing else may store it later. Without it a crash makes the next message unreadable.",
    holds: () =>
      inOrder("Utils/auth-utils.js", "isInTransaction,", "transaction:") &&
      /queueJob\(this\.addr\.toString\(\)/.test(source("../../libsignal/src/session_cipher.js")) &&
      inOrder("Socket/socket.js", "makeSignalRepository({ creds, keys }, logger, "),
  },
  {
    that: "encrypts for a recipient through the repository's encryptMessage",
    file: "message/signal-repository.ts",
    code: "async encryptMessage(message)",
    look: "sendProgress in signal-repository.ts: it would report that a message cannot have left although it has.",
    holds: () =>
      inOrder("Socket/messages-send.js", "signalRepository.encryptMessage({") &&
      !/cipher\.encrypt/.test(source("Socket/messages-send.js")),
  },
  {
    that: "decrypts each message through the repository's decryptMessage, with the bytes of its stanza, and says that it has arrived only then",
    file: "message/signal-repository.ts",
    code: "async decryptMessage(message)",
    look: "InboundReader in inbound.ts: STOP would not be read, or a crash would lose it.",
    holds: () =>
      inOrder(
        "Utils/decode-wa-message.js",
        "of stanza.content)",
        "repository.decryptMessage({",
        "ciphertext: content",
      ) &&
      inOrder(
        "Socket/messages-recv.js",
        "await decrypt()",
        "await sendReceipt(msg.key.remoteJid",
        "await upsertMessage(msg",
      ),
  },
  {
    that: "stores a session before it returns the text, so that a message can be decrypted once",
    file: "message/signal-repository.ts",
    code: "const unstored = open(",
    look: "If it stores the session later, a message need not be decrypted twice.",
    holds: () =>
      inOrder(
        "../../libsignal/src/session_cipher.js",
        "async decryptWhisperMessage",
        "await this.storeRecord(record)",
        "return result.plaintext",
      ),
  },
  {
    that: "asks for the devices once, before it encrypts, and finds those of openSessions in its cache",
    file: "message/recipient.ts",
    code: "socket.getUSyncDevices([own, address], true, false)",
    look: "openSessions() in recipient.ts makes the same query first: a message to nobody would be reported as sent.",
    holds: () =>
      inOrder(
        "Socket/messages-send.js",
        "const relayMessage = ",
        "await getUSyncDevices([senderIdentity, jid], true, false)",
        "await assertSessions(allRecipients)",
        "createParticipantNodes(otherRecipients, message",
      ),
  },
  {
    that: "asks for the keys of LIDs alone, so the messenger asks for those of numbers without one",
    file: "message/recipient.ts",
    code: "await parseAndInjectE2ESessions(answer, socket.signalRepository)",
    look: "If assertSessions asks for the keys of numbers now, delete openWithoutLid() in recipient.ts. Without either, nobody without a LID gets a message.",
    holds: () =>
      typeof baileys.parseAndInjectE2ESessions === "function" &&
      inOrder(
        "Socket/messages-send.js",
        "const assertSessions = ",
        "const wireJids = [",
        "...jidsRequiringFetch.filter(jid => !!isLidUser(jid)",
        ".map(a => a.lid)",
        "content: wireJids.map(",
      ) &&
      // the session of a number without a LID is stored under the number
      inOrder("Signal/libsignal.js", "const lidForPN = await lidMapping.getLIDForPN(pnJid)", "return id;"),
  },
  {
    that: "emits TAG: and CB: events for received stanzas",
    file: "message/relay.ts",
    code: "socket.ws.on(`TAG:",
    look: "listen() in relay.ts and the receipts in connection.ts: every message would end as UNCERTAIN.",
    holds: () =>
      baileys.DEF_TAG_PREFIX === "TAG:" &&
      baileys.DEF_CALLBACK_PREFIX === "CB:" &&
      inOrder("Socket/socket.js", "{DEF_TAG_PREFIX}$", "{DEF_CALLBACK_PREFIX}$"),
  },
  {
    that: "delays its own event for receipts, so the messenger listens to CB:receipt",
    file: "connection.ts",
    code: 'socket.ws.on("CB:receipt"',
    look: "receiptsOf() in receipt.ts reads the stanza itself.",
    holds: () => inOrder("Socket/messages-recv.js", "ws.on('CB:receipt'"),
  },
  {
    that: "applies a notification of changed devices to the address in `jid` alone, a number",
    file: "connection.ts",
    code: 'socket.ws.on("CB:notification,type:devices"',
    look: "If baileys applies it to the LID as well, delete the listener and forget() in devices.ts.",
    holds: () => {
      const text = source("Socket/messages-recv.js");
      const from = text.indexOf("const handleDevicesNotification = ");
      const handler = text.slice(from, text.indexOf("const processNotification = "));
      return from > 0 && handler.includes("d.attrs.jid") && !handler.includes("attrs.lid)");
    },
  },
  {
    that: "does nothing about refresh_lid in an ack (#2661)",
    file: "connection.ts",
    code: 'socket.ws.on("CB:ack,class:message"',
    look: "If baileys asks for the new LID itself, delete the listener and forgetContact() in recipient.ts.",
    holds: () => !source("Socket/messages-recv.js").includes("refresh_lid"),
  },
  {
    that: "has a LID in mappingCache and in the key store, by number and by LID",
    file: "message/recipient.ts",
    code: "lidMapping as unknown as",
    look: "forgetContact() in recipient.ts must delete all four.",
    holds: () =>
      inOrder(
        "Signal/lid-mapping.js",
        "_reverse`] = pnUser",
        "mappingCache.set(`pn:",
        "mappingCache.set(`lid:",
      ),
  },
  {
    that: "drops the demand for a passkey while linking (#2672)",
    file: "connection.ts",
    code: 'socket.ws.on("CB:notification,type:passkey_prologue_request"',
    look: "If baileys handles it now, its event should set the state in place of this listener, and linking may work.",
    holds: () =>
      ["socket.js", "messages-recv.js", "chats.js"].every(
        (file) => !/passkey/i.test(source(`Socket/${file}`)),
      ),
  },
  {
    that: "puts the attributes of a rejected login in the error's data",
    file: "connection.ts",
    code: "data?.expire",
    look: "The end of a temporary ban (402) is read there; without it the next login is tried after an hour.",
    holds: () => inOrder("Socket/socket.js", "ws.on('CB:failure'", "data: node.attrs"),
  },
  {
    that: "waits for a sync of the app state, unless one was counted",
    file: "connection.ts",
    code: "accountSyncCounter ||= 1",
    look: "Sends would wait for the sync, for ever if an answer leaves out a collection.",
    holds: () => inOrder("Socket/chats.js", "if (authState.creds.accountSyncCounter > 0)"),
  },
  {
    that: "issues privacy tokens in tc-token-utils.js, which is not exported",
    file: "message/recipient.ts",
    code: 'from "baileys/lib/Utils/tc-token-utils.js"',
    look: "givePrivacyToken() in recipient.ts: new contacts without a token may be refused with 463.",
    holds: () =>
      ["resolveIssuanceJid", "resolveTcTokenJid", "shouldSendNewTcToken", "storeTcTokensFromIqResult"].every(
        (name) => source("Utils/tc-token-utils.js").includes(name),
      ) && onSocket(({ issuePrivacyTokens }) => typeof issuePrivacyTokens === "function"),
  },
  {
    that: "stores the promise of its query for media servers, also of one that fails",
    file: "message/upload.ts",
    code: "const cached = new WeakMap",
    look: "If refreshMediaConn repeats a query that failed, getMediaConn can be deleted.",
    holds: () => inOrder("Socket/messages-send.js", "const refreshMediaConn = ", "mediaConn = (async"),
  },
  {
    that: "can ask for the lock and the cap on new contacts",
    file: "limits.ts",
    code: "socket.fetchAccountReachoutTimelock()",
    look: "limits.ts: the messenger would not know when new contacts may be written to again.",
    holds: () =>
      onSocket(
        (socket) =>
          typeof socket.fetchAccountReachoutTimelock === "function" &&
          typeof socket.fetchNewChatMessageCap === "function",
      ),
  },
  {
    that: "creates its emitters within makeWASocket",
    file: "connection.ts",
    code: "EventEmitter.captureRejections = true",
    look: "capturingRejections() in connection.ts: a frame that cannot be decrypted would end the process.",
    holds: () => inOrder("Socket/socket.js", "const makeSocket = ", "new WebSocketClient("),
  },
];
