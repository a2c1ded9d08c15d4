import { EventEmitter } from "node:events";
import { Agent } from "node:https";
import {
  areJidsSameUser,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  isJidBroadcast,
  isJidGroup,
  isJidNewsletter,
  isLidUser,
  jidDecode,
  makeWASocket,
  proto,
  type UserFacingSocketConfig,
  WA_CERT_DETAILS,
  type WASocket,
} from "baileys";
import type { Lease } from "./auth-state.ts";
import { libraryLog, muteLibsignal } from "./library-log.ts";
import { type Receipt, receiptsOf } from "./receipt.ts";
import { passages, writeThrough } from "./signal-repository.ts";
import { verifySignature } from "./signature.ts";
import type { WhatsAppSettings } from "./whatsapp.ts";

/** How long the platform may take to answer a query. */
const queryTimeoutMs = 20_000;
const connectTimeoutMs = 15_000;
/** A server that is silent is not waited for: `ws` itself would wait 30 s for the end of a connection. */
const closeTimeoutMs = 1_000;

const realRootKey = Buffer.from(WA_CERT_DETAILS.PUBLIC_KEY);

export interface ConnectionOptions {
  readonly settings: WhatsAppSettings;
  readonly lease: Lease;
  readonly findPayload: (id: string) => Promise<Uint8Array | undefined>;
  readonly onQr: (qr: string) => void;
  readonly onOpen: (phone: string) => void;
  readonly onReceipt: (receipt: Receipt) => void;
}

/** Why a connection ended: the code of baileys' `DisconnectReason`, where there is one. */
export interface Ending {
  readonly code: number | undefined;
}

/** One socket, from its first frame to its end. */
export interface Connection {
  readonly socket: WASocket;
  /** Resolves once the socket is closed and what it was writing is written. */
  readonly ended: Promise<Ending>;
  /** Ends it; nothing leaves after this call. */
  end(): void;
}

/** The `ws` socket behind baileys' own, which is protected there. */
interface RawSocket {
  send(data: Uint8Array, sent?: (error?: Error) => void): void;
  close(): void;
  terminate(): void;
}

/** Notes for the message on its way when a frame leaves, and ends a close that takes too long. */
const watch = (raw: RawSocket): void => {
  const send = raw.send.bind(raw);
  raw.send = (data, sent) => {
    const passage = passages.getStore();
    if (passage?.isEncrypted) passage.mayHaveLeft = true;
    send(data, sent);
  };
  const close = raw.close.bind(raw);
  raw.close = () => {
    setTimeout(() => raw.terminate(), closeTimeoutMs).unref();
    close();
  };
};

/**
 * The message that a phone could not read and asks for again. Whoever asks must be its recipient: baileys
 * would send it to anybody who knows its id.
 */
const findMessage = async (
  { findPayload }: ConnectionOptions,
  socket: WASocket,
  { id, remoteJid }: proto.IMessageKey,
): Promise<proto.IMessage | undefined> => {
  const payload = id ? await findPayload(id) : undefined;
  if (!payload || !remoteJid) return undefined;
  const { key, message } = proto.WebMessageInfo.decode(payload);
  const asking = isLidUser(remoteJid)
    ? await socket.signalRepository.lidMapping.getPNForLID(remoteJid)
    : remoteJid;
  return areJidsSameUser(asking ?? undefined, key?.remoteJid ?? undefined)
    ? (message ?? undefined)
    : undefined;
};

const codeOf = (error: unknown): number | undefined => {
  const code = (error as { output?: { statusCode?: unknown } } | undefined)?.output?.statusCode;
  return typeof code === "number" ? code : undefined;
};

/**
 * Has the emitters that are made meanwhile turn what their asynchronous listeners throw into an `error`
 * event, which ends the connection. baileys' listeners catch little: a frame that cannot be decrypted, or
 * an answer to a socket that has just closed, would end the process.
 */
const capturingRejections = <T>(make: () => T): T => {
  const before = EventEmitter.captureRejections;
  EventEmitter.captureRejections = true;
  try {
    return make();
  } finally {
    EventEmitter.captureRejections = before;
  }
};

/** Opens a socket. It never reconnects by itself. */
export const connect = (options: ConnectionOptions): Connection => {
  const { settings, lease, onQr, onOpen, onReceipt } = options;
  muteLibsignal();
  Curve.verify = verifySignature; // baileys' own accepts every signature
  WA_CERT_DETAILS.PUBLIC_KEY = settings.rootKey ? Buffer.from(settings.rootKey) : realRootKey;
  let isOver = false;
  const config: UserFacingSocketConfig = {
    auth: lease.state,
    logger: libraryLog(() => isOver),
    ...(settings.url && { waWebSocketUrl: settings.url }),
    ...(settings.mediaCa && { fetchAgent: new Agent({ ca: settings.mediaCa }) }),
    version: settings.version ?? DEFAULT_CONNECTION_CONFIG.version,
    browser: [settings.browserName ?? "Mac OS", "Chrome", "14.4.1"],
    countryCode: "ID",
    connectTimeoutMs,
    defaultQueryTimeoutMs: queryTimeoutMs,
    makeSignalRepository: writeThrough(lease.state.keys),
    transactionOpts: { maxCommitRetries: 3, delayBetweenTriesMs: 200 },
    getMessage: (key) => findMessage(options, socket, key),
    // one way: what others write is acknowledged, never kept, and the phone's history stays on the phone
    shouldSyncHistoryMessage: () => false,
    syncFullHistory: false,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    generateHighQualityLinkPreview: false,
    // receipts of persons must come through: they ask for a message again
    shouldIgnoreJid: (jid) => Boolean(isJidGroup(jid) || isJidBroadcast(jid) || isJidNewsletter(jid)),
  };
  const socket: WASocket = capturingRejections(() => makeWASocket(config));
  watch((socket.ws as unknown as { socket: RawSocket }).socket);

  const { promise: closed, resolve: close } = Promise.withResolvers<Ending>();
  const end = () => {
    isOver = true;
    socket.end(undefined).catch(() => {});
  };
  socket.ev.on("creds.update", () => {
    // what cannot be kept must not be used: the connection is made anew from what is stored
    lease.saveCreds().catch(() => end());
  });
  socket.ev.on("connection.update", ({ qr, connection, lastDisconnect }) => {
    if (qr) onQr(qr);
    if (connection === "open") onOpen(jidDecode(socket.user?.id)?.user ?? "");
    if (connection !== "close") return;
    isOver = true;
    close({ code: codeOf(lastDisconnect?.error) });
  });
  // baileys' own event is held back for up to 30 s after a login
  socket.ws.on("CB:receipt", (node) => {
    const { me } = lease.state.creds;
    for (const receipt of receiptsOf(node, [me?.id, me?.lid])) onReceipt(receipt);
  });
  return {
    socket,
    end,
    ended: closed.then(async (ending) => {
      await lease.takeBack();
      return ending;
    }),
  };
};
