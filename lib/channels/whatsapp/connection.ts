import { EventEmitter } from "node:events";
import { Agent } from "node:https";
import * as baileys from "baileys";
import type { Inbound, Limits } from "../channel.ts";
import { libraryLog, muteLibsignal, verifySignature } from "./library-log.ts";
import { watchLimits } from "./limits.ts";
import type { Lease } from "./link/auth-state.ts";
import type { Disconnection } from "./link/reconnection.ts";
import { Devices } from "./message/devices.ts";
import { InboundReader } from "./message/inbound.ts";
import { forgetContact } from "./message/recipient.ts";
import { sendProgress, writeThrough } from "./message/signal-repository.ts";
import { type Receipt, receiptsOf } from "./receipt.ts";
import type { WhatsAppSettings } from "./settings.ts";

const queryTimeoutMs = 20_000;
const connectTimeoutMs = 15_000;
/** `ws` itself waits 30 s for an unresponsive server to close a connection. */
const closeTimeoutMs = 1_000;

const realRootKey = Buffer.from(baileys.WA_CERT_DETAILS.PUBLIC_KEY);

export interface ConnectionOptions {
  readonly settings: WhatsAppSettings;
  readonly lease: Lease;
  /** The version of the web client to announce. */
  readonly version: baileys.WAVersion;
  readonly findPayload: (id: string) => Promise<Uint8Array | undefined>;
  readonly onQr: (qr: string) => void;
  /** Linking needs a passkey, in addition to the QR code or the pairing code. */
  readonly onPasskey: () => void;
  readonly onOpen: (phone: string) => void;
  readonly onReceipt: (receipt: Receipt) => void;
  /** A message counts as received once this has resolved. */
  readonly onInbound: (inbound: Inbound) => Promise<void>;
  readonly onLimits: (limits: Limits) => void;
}

export interface Connection {
  readonly socket: baileys.WASocket;
  readonly devices: Devices;
  /** Resolves once the socket is closed and pending writes of keys are done. */
  readonly ended: Promise<Disconnection>;
  /** Aborted right after. Each `then` on `ended` would be held until then, with everything it refers to. */
  readonly lost: AbortSignal;
  /** Closes the socket; nothing is sent after this call. */
  end(): void;
}

/** The `ws` socket behind baileys' own, where it is a protected member. */
interface RawSocket {
  send(data: Uint8Array, sent?: (error?: Error) => void): void;
  close(): void;
  terminate(): void;
}

/** Records when a frame of the current send leaves, and terminates a close that takes too long. */
const watch = (raw: RawSocket): void => {
  const send = raw.send.bind(raw);
  raw.send = (data, sent) => {
    const progress = sendProgress.getStore();
    if (progress?.isEncrypted) progress.mayHaveLeft = true;
    send(data, sent);
  };
  const close = raw.close.bind(raw);
  raw.close = () => {
    setTimeout(() => raw.terminate(), closeTimeoutMs).unref();
    close();
  };
};

/**
 * Finds a message that a phone could not decrypt and requests again. Only its recipient gets it: baileys
 * would send it to anyone who knows the id.
 */
const findMessage = async (
  { findPayload }: ConnectionOptions,
  socket: baileys.WASocket,
  { id, remoteJid }: baileys.proto.IMessageKey,
): Promise<baileys.proto.IMessage | undefined> => {
  const payload = id ? await findPayload(id) : undefined;
  if (!payload || !remoteJid) return undefined;
  const { key, message } = baileys.proto.WebMessageInfo.decode(payload);
  const requester = baileys.isLidUser(remoteJid)
    ? await socket.signalRepository.lidMapping.getPNForLID(remoteJid)
    : remoteJid;
  return baileys.areJidsSameUser(requester ?? undefined, key?.remoteJid ?? undefined)
    ? (message ?? undefined)
    : undefined;
};

/** baileys puts the attributes of a rejected login into `data` and reads only the code. */
const describeEnd = (error: unknown): Disconnection => {
  const { output, data } = (error ?? {}) as {
    output?: { statusCode?: unknown };
    data?: { expire?: unknown };
  };
  const code = output?.statusCode;
  const seconds = Number(data?.expire);
  return {
    code: typeof code === "number" ? code : undefined,
    ...(seconds > 0 && { expireSeconds: seconds }),
  };
};

/**
 * Makes emitters created by `make` turn rejections of their asynchronous listeners into an `error` event,
 * which closes the connection. baileys' listeners catch little: a frame that cannot be decrypted, or an
 * answer on a socket that has just closed, would end the process.
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

/** Opens a socket. It does not reconnect by itself. */
export const connect = (options: ConnectionOptions): Connection => {
  const { settings, lease, version, onQr, onPasskey, onOpen, onReceipt } = options;
  muteLibsignal();
  baileys.Curve.verify = verifySignature; // baileys' own accepts every signature
  baileys.WA_CERT_DETAILS.PUBLIC_KEY = settings.rootKey ? Buffer.from(settings.rootKey) : realRootKey;
  let isClosed = false;
  let openedAt = Number.POSITIVE_INFINITY;
  const devices = new Devices();
  const reader = new InboundReader({
    me: () => lease.state.creds.me,
    findNumber: (lid) => socket.signalRepository.lidMapping.getPNForLID(lid),
    openedAt: () => openedAt,
    onInbound: options.onInbound,
    abandon: () => end(),
  });
  // as after a first sync: that would hold up every send, and for ever if an answer leaves out a collection
  lease.state.creds.accountSyncCounter ||= 1;
  const config: baileys.UserFacingSocketConfig = {
    auth: lease.state,
    logger: libraryLog(() => isClosed),
    ...(settings.url && { waWebSocketUrl: settings.url }),
    ...(settings.mediaCa && { fetchAgent: new Agent({ ca: settings.mediaCa }) }),
    version,
    // WhatsApp may reject pairing codes for names that it does not know
    browser: ["Mac OS", "Chrome", "14.4.1"],
    countryCode: "ID",
    connectTimeoutMs,
    defaultQueryTimeoutMs: queryTimeoutMs,
    makeSignalRepository: writeThrough(lease.state.keys, reader),
    userDevicesCache: devices,
    transactionOpts: { maxCommitRetries: 3, delayBetweenTriesMs: 200 },
    getMessage: (key) => findMessage(options, socket, key),
    // incoming messages are read by the reader, acknowledged and dropped; the recent history brings LIDs and privacy
    // tokens, only they are stored
    shouldSyncHistoryMessage: ({ syncType }) => syncType !== baileys.proto.Message.HistorySyncType.FULL,
    syncFullHistory: false,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    generateHighQualityLinkPreview: false,
    // receipts from persons are needed: they request messages again
    shouldIgnoreJid: (jid) =>
      Boolean(baileys.isJidGroup(jid) || baileys.isJidBroadcast(jid) || baileys.isJidNewsletter(jid)),
  };
  const socket: baileys.WASocket = capturingRejections(() => baileys.makeWASocket(config));
  // the outbox has every message; baileys' cache would hold 64 KiB for each of the last five minutes
  if (socket.messageRetryManager) socket.messageRetryManager.addRecentMessage = () => {};
  watchLimits(socket, options.onLimits);
  const raw = (socket.ws as unknown as { socket: RawSocket }).socket;
  watch(raw);
  // an HTTP answer in place of the upgrade: baileys listens, so that ws ends nothing, and does nothing itself
  socket.ws.on("unexpected-response", () => raw.terminate());

  const { promise: closed, resolve: close } = Promise.withResolvers<Disconnection>();
  const end = () => {
    isClosed = true;
    socket.end(undefined).catch(() => {});
  };
  socket.ev.on("creds.update", () => {
    // credentials that cannot be stored must not be used: the next connection starts from the stored ones
    lease.saveCreds().catch(() => end());
  });
  socket.ev.on("connection.update", ({ qr, connection, lastDisconnect }) => {
    if (qr) onQr(qr);
    if (connection === "open") openedAt = Date.now();
    if (connection === "open") onOpen(baileys.jidDecode(socket.user?.id)?.user ?? "");
    if (connection !== "close") return;
    isClosed = true;
    close(describeEnd(lastDisconnect?.error));
  });
  // baileys does nothing (#2672), and its acknowledgement fails in an unlinked device
  socket.ws.on("CB:notification,type:passkey_prologue_request", ({ attrs }: baileys.BinaryNode) => {
    onPasskey();
    const { id = "", from = "", type = "" } = attrs;
    const ack = { tag: "ack", attrs: { class: "notification", id, to: from, type } };
    socket.sendNode(ack).catch(() => {});
  });
  socket.ws.prependListener("CB:message", (node: baileys.BinaryNode) => reader.note(node));
  socket.ws.on("CB:notification,type:devices", (node) => devices.forget(node));
  socket.ws.on("CB:ack,class:message", ({ attrs }: baileys.BinaryNode) => {
    if (attrs.refresh_lid === "true") forgetContact(socket, devices, attrs.from).catch(() => {});
  });
  // baileys delays its own event for up to 30 s after a login
  socket.ws.on("CB:receipt", (node) => {
    const { me } = lease.state.creds;
    for (const receipt of receiptsOf(node, [me?.id, me?.lid])) onReceipt(receipt);
  });
  const losing = new AbortController();
  return {
    socket,
    devices,
    end,
    lost: losing.signal,
    ended: closed.then(async (disconnection) => {
      await lease.release();
      // after the state has changed: who learns of the loss must not find the connection open
      setImmediate(() => losing.abort());
      return disconnection;
    }),
  };
};
