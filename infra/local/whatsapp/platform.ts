import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { proto } from "baileys";
import { WebSocketServer } from "ws";
import { muteLibsignal } from "#lib/channels/whatsapp/library-log.ts";
import { listenOnLoopback, type Via } from "../loopback.ts";
import { type Behaviour, type FailureModes, type Receipt, spend } from "./behaviour.ts";
import type { Reason } from "./closing.ts";
import { Connection } from "./connection.ts";
import { companionChanged } from "./contacts.ts";
import { startControl } from "./control.ts";
import { Exchange, historySync, type Sockets } from "./exchange.ts";
import { startMediaStore } from "./media/media-store.ts";
import type { Pairing } from "./pairing.ts";
import type { Envelope, Phone } from "./phone.ts";
import { Account } from "./phone-account.ts";
import { PrivacyTokens } from "./privacy-tokens.ts";
import { Reception } from "./reception.ts";
import { Directory } from "./registered-numbers.ts";
import { createAuthority } from "./wire/noise.ts";

export interface PlatformOptions {
  /** The number that sends messages. */
  readonly account?: string;
  /** Numbers that have an account from the start. */
  readonly phones?: readonly string[];
  /** Whether another number has an account; by default none has. */
  readonly isRegistered?: (number: string) => boolean;
  /** Port of the control API. Default: any free one. */
  readonly controlPort?: number | undefined;
  /** Returns the port at which clients reach a media host; by default its own. */
  readonly via?: Via | undefined;
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

const defaultAccount = "6281100000001";
const defaultWaitMs = 90_000;

/**
 * Starts a simulated WhatsApp on loopback that speaks the real protocol to the real client: Noise, binary stanzas,
 * pairing, Signal, and media over TLS. Its state is in memory only.
 */
export const startPlatform = async (options: PlatformOptions = {}) => {
  const { phones = [], isRegistered = () => false } = options;
  // the phones use libsignal too
  muteLibsignal();
  let away = false;
  let refused = 0;
  let comesBack: NodeJS.Timeout | undefined;
  const authority = createAuthority();
  const media = await startMediaStore({
    mediaHosts: () => exchange.behaviour.mediaHosts.map((status) => (away ? 503 : status)),
    delayMs: () => exchange.behaviour.mediaDelayMs,
    expireAuth: () => spend(exchange.behaviour, "expireMediaAuth"),
    via: options.via,
  });
  const directory = new Directory(media, isRegistered);
  const account = new Account(directory.register(options.account ?? defaultAccount));
  for (const number of phones) directory.register(number);
  const tokens = new PrivacyTokens(directory);
  const pairings = new Map<Connection, Pairing>();
  const exchange = new Exchange({ account, directory, media, tokens }, pairings);
  const reception = new Reception();
  reception.add(exchange);
  const exchanges = [exchange];

  let pageReads = 0;
  const server = createServer(({ url }, response) => {
    const { webRevision } = exchange.behaviour;
    if (url !== "/sw.js") return response.writeHead(426).end();
    pageReads += 1;
    if (webRevision === undefined) return response.writeHead(404).end();
    // escaped, as in the real service worker
    response.end(String.raw`self.x="{\"server_revision\":1,\"client_revision\":${webRevision},\"y\":2}"`);
  });
  server.on("connection", (socket: Socket) => {
    if (!away) return;
    refused += 1;
    exchange.changes.emit("change");
    socket.resetAndDestroy();
  });
  const sockets = new WebSocketServer({ server, path: "/ws/chat" });
  sockets.on("connection", (socket) => reception.open(new Connection(socket, authority, reception)));
  const loopback = await listenOnLoopback(server);

  const platform = {
    /** Address for the client. */
    url: `ws://${loopback.address}/ws/chat`,
    /** The web client's service worker, which names its revision. */
    versionUrl: `http://${loopback.address}/sw.js`,
    /** How often it was read. */
    get pageReads(): number {
      return pageReads;
    },
    /** Replaces the client's `WA_CERT_DETAILS.PUBLIC_KEY`. */
    rootKey: authority.rootKey,
    /** Certificate of the media server, in PEM. */
    mediaCa: media.ca,
    /** Address of these methods over HTTP; see control.ts. */
    get controlUrl(): string {
      return control.url;
    },
    /** The account's own phone, which receives a copy of every message. */
    account: account.phone,
    get phones(): readonly Phone[] {
      return directory.phones.filter((phone) => phone !== account.phone);
    },
    get behaviour(): Readonly<Behaviour> {
      return exchange.behaviour;
    },
    get sockets(): Sockets & { readonly refused: number } {
      return { ...exchange.sockets, refused };
    },
    /** Number of receipts and messages that clients have not acknowledged. */
    get unacknowledged(): number {
      return exchange.unacknowledged;
    },
    /** Whether connections are refused. */
    get away(): boolean {
      return away;
    },
    /** Whether a client shows a pairing code. */
    get codeAwaited(): boolean {
      return exchange.codeAwaited;
    },
    /** Unexpected errors of the platform. */
    faults: exchange.faults as readonly string[],
    /** Lets another number send messages: it has its own clients, limits and behaviour, and the same contacts. */
    addAccount(number: string) {
      const other = new Account(directory.register(number));
      const own = new Exchange(
        { account: other, directory, media, tokens: new PrivacyTokens(directory) },
        pairings,
      );
      own.changes.on("change", () => exchange.changes.emit("change"));
      reception.add(own);
      exchanges.push(own);
      return {
        phone: other.phone,
        scan: async (qr: string): Promise<string> => (await own.scan(qr)).jid,
        behave: (misbehaviour: FailureModes): void => own.behave(misbehaviour),
        disconnect: (reason: Reason): void => own.disconnect(reason),
        get sockets(): Sockets {
          return own.sockets;
        },
      };
    },
    /** Creates an account for a number. */
    register: (number: string): Phone => directory.register(number),
    unregister: (number: string): void => directory.remove(number),
    /** @throws Error if the number has no account. */
    phone(number: string): Phone {
      const phone = directory.find(number);
      if (!phone) throw new Error(`${number} has no account`);
      return phone;
    },
    /** How media hosts answered uploads, in order. */
    uploads: media.uploads,
    /** Sends a message to the account. @returns the IDs, one for each linked device. */
    write: (number: string, text: string): Promise<string[]> =>
      exchange.write(platform.phone(number), { conversation: text }),
    /** Sends a message of any kind to the account, from a phone or one of its companions. @returns the IDs. */
    post: (sender: Phone, message: proto.IMessage, envelope?: Envelope): Promise<string[]> =>
      exchange.write(sender, message, envelope),
    /** Sends what the linked devices have not acknowledged once more, as a server does that missed their answer. */
    repeatUnacknowledged: (): void => account.devices.forEach((device) => void device.catchUp()),
    /** Sends part of the account's history to the linked devices, as its phone does after it was linked. */
    syncHistory: (history: proto.IHistorySync): Promise<string[]> =>
      exchange.write(account.phone, historySync(history)),
    /** Links a companion to a phone, of which the client is notified; the account's phone may have others, too. */
    linkCompanion(number: string): Phone {
      const phone = platform.phone(number);
      const companion = phone.link(phone === account.phone ? account.reserve() : undefined);
      exchange.notify(companionChanged("add", companion));
      return companion;
    },
    /** Unlinks it. @param isNotified whether the client learns of it; false as while it is not connected. */
    unlinkCompanion(companion: Phone, isNotified = true): void {
      const { companions } = platform.phone(companion.number);
      companions.splice(companions.indexOf(companion), 1);
      companion.close();
      if (isNotified) exchange.notify(companionChanged("remove", companion));
    },
    /** A contact gets another LID. The ack of a message to the former one says so (Baileys #2661, whatsapp-rust #1313). */
    changeLid: (number: string): void => directory.changeLid(platform.phone(number)),
    /** A contact gives the account its privacy token, of which the client is notified. */
    giveToken: (number: string): void => exchange.notify(tokens.notify(platform.phone(number))),
    /** How often the account gave its privacy token to a contact. */
    tokensGivenTo: (number: string): number => tokens.givenTo(platform.phone(number)),
    tokenOf: (number: string): Buffer => tokens.receive(platform.phone(number)),
    /** How often a message ID was received, delivered or not. */
    arrivalsOf: (id: string): number => platform.addressesOf(id).length,
    /** The address of each frame with a message ID, in order. */
    addressesOf: (id: string): readonly string[] => exchange.delivery.arrivals.get(id) ?? [],
    /** Scans a QR code. @returns the linked device's JID. */
    scan: async (qr: string): Promise<string> => (await exchange.scan(qr)).jid,
    /** Enters a pairing code. @returns the linked device's JID. */
    enterCode: async (code: string): Promise<string> => (await exchange.enterCode(code)).jid,
    /** Replaces the behaviour; `{}` restores the correct one. */
    behave: (misbehaviour: FailureModes): void => exchange.behave(misbehaviour),
    announceLimits: (): void => exchange.announceLimits(),
    sendReceipts: (id: string, receipts: readonly Receipt[]): void =>
      exchange.delivery.sendReceipts(id, receipts),
    askAgain: (id: string): Promise<void> => exchange.delivery.askAgain(id),
    disconnect: (reason: Reason): void => exchange.disconnect(reason),
    /** Closes all connections and refuses new ones, until `comeBack()` or for the given time. */
    leave(forMs?: number): void {
      clearTimeout(comesBack);
      away = true;
      for (const one of exchanges) one.dropAll();
      if (forMs !== undefined) comesBack = setTimeout(platform.comeBack, forMs);
    },
    comeBack(): void {
      clearTimeout(comesBack);
      away = false;
      exchange.changes.emit("change");
    },
    /** Resolves when the condition holds; checks it after every change. */
    async until(condition: () => boolean, timeoutMs = defaultWaitMs): Promise<void> {
      const signal = AbortSignal.timeout(timeoutMs);
      while (!condition())
        await once(exchange.changes, "change", { signal }).catch((cause) => {
          throw new Error(`the condition was not met within ${timeoutMs} ms`, { cause });
        });
    },
    async stop(): Promise<void> {
      clearTimeout(comesBack);
      for (const one of exchanges) {
        one.delivery.stop();
        one.dropAll();
      }
      sockets.close();
      await Promise.all([loopback.stop(), control.stop(), media.stop()]);
      directory.close();
    },
  };
  const control = await startControl(platform, options.controlPort);
  return platform;
};
