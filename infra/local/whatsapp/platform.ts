import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer } from "ws";
import { muteLibsignal } from "#lib/messenger/channels/whatsapp/library-log.ts";
import { listenOnLoopback } from "../loopback.ts";
import { Account } from "./account.ts";
import { createAuthority } from "./authority.ts";
import type { Behaviour, Misbehaviour, Receipt } from "./behaviour.ts";
import { Connection } from "./connection.ts";
import { startControl } from "./control.ts";
import { Directory } from "./directory.ts";
import { Exchange, type Reason, type Sockets } from "./exchange.ts";
import { startMediaStore } from "./media-store.ts";
import type { Phone } from "./phone.ts";

export interface PlatformOptions {
  /** The number that messages are sent from. */
  readonly account?: string;
  /** Numbers that have an account from the start. */
  readonly phones?: readonly string[];
  /** Decides about every other number; none has one unless told. */
  readonly isRegistered?: (number: string) => boolean;
  readonly port?: number;
  readonly controlPort?: number;
}

/** A platform that runs on loopback. */
export interface Platform {
  /** What the client connects to. */
  readonly url: string;
  /** Takes the place of the client's `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  /** The certificate of the media server, in PEM. */
  readonly mediaCa: string;
  /** The same as these methods, over HTTP; see control.ts. */
  readonly controlUrl: string;
  /** The account's own phone, which gets a copy of every message. */
  readonly account: Phone;
  readonly phones: readonly Phone[];
  readonly behaviour: Readonly<Behaviour>;
  readonly sockets: Sockets & { readonly refused: number };
  /** Receipts and messages that were sent to clients, or wait for them, and are not acknowledged yet. */
  readonly unacknowledged: number;
  /** Connections are refused at the moment. */
  readonly away: boolean;
  /** What went wrong here that no behaviour asked for. */
  readonly faults: readonly string[];
  /** Gives a number an account. */
  register(number: string): Phone;
  unregister(number: string): void;
  /** @returns the phone of a number that has an account; throws for any other. */
  phone(number: string): Phone;
  /** Someone writes to the account. @returns the ids, one for each linked device. */
  write(number: string, text: string): Promise<string[]>;
  /** How often a message id came, whatever became of it. */
  arrivalsOf(id: string): number;
  /** @returns the linked device's jid. */
  scan(qr: string): Promise<string>;
  /** Whether a client shows a pairing code at the moment. */
  readonly codeAwaited: boolean;
  /** @returns the linked device's jid. Rejects when it is not the code that is shown. */
  enterCode(code: string): Promise<string>;
  /** Misbehaves so from now on; `{}` ends it. */
  behave(misbehaviour: Misbehaviour): void;
  sendReceipts(id: string, receipts: readonly Receipt[]): void;
  askAgain(id: string): Promise<void>;
  disconnect(reason: Reason): void;
  /** Drops all and refuses every connection, until it is told to come back or the time is over. */
  leave(forMs?: number): void;
  comeBack(): void;
  /** Resolves once the condition holds; looked at whenever something happens here. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
  stop(): Promise<void>;
}

const defaultAccount = "6281100000001";
const defaultWaitMs = 5_000;

/**
 * A fake WhatsApp on loopback that speaks the real protocol, for the real client: Noise, binary stanzas,
 * pairing, Signal, and media over TLS. What the client's state is checked against lives in memory only.
 */
export const startPlatform = async (options: PlatformOptions = {}): Promise<Platform> => {
  const { phones = [], isRegistered = () => false, port = 0, controlPort = 0 } = options;
  // the phones use it as clients do
  muteLibsignal();
  let away = false;
  let refused = 0;
  let comesBack: NodeJS.Timeout | undefined;
  const authority = createAuthority();
  const media = await startMediaStore(() => (away ? 503 : exchange.behaviour.mediaStatus));
  const directory = new Directory(media, isRegistered);
  const account = new Account(directory.register(options.account ?? defaultAccount));
  for (const number of phones) directory.register(number);
  const exchange = new Exchange({ account, directory, media });

  const server = createServer((_, response) => response.writeHead(426).end());
  server.on("connection", (socket: Socket) => {
    if (!away) return;
    refused += 1;
    exchange.changes.emit("change");
    socket.resetAndDestroy();
  });
  const sockets = new WebSocketServer({ server, path: "/ws/chat" });
  sockets.on("connection", (socket) => exchange.open(new Connection(socket, authority, exchange)));
  const loopback = await listenOnLoopback(server, port);

  const platform: Platform = {
    url: `ws://${loopback.address}/ws/chat`,
    rootKey: authority.rootKey,
    mediaCa: media.ca,
    get controlUrl() {
      return control.url;
    },
    account: account.phone,
    get phones() {
      return directory.phones.filter((phone) => phone !== account.phone);
    },
    get behaviour() {
      return exchange.behaviour;
    },
    get sockets() {
      return { ...exchange.sockets, refused };
    },
    get unacknowledged() {
      return exchange.unacknowledged;
    },
    get away() {
      return away;
    },
    get codeAwaited() {
      return exchange.codeAwaited;
    },
    faults: exchange.faults,
    register: (number: string) => directory.register(number),
    unregister: (number: string) => directory.remove(number),
    phone(number: string) {
      const phone = directory.find(number);
      if (!phone) throw new Error(`${number} has no account`);
      return phone;
    },
    write: (number: string, text: string) => exchange.write(platform.phone(number), text),
    arrivalsOf: (id: string) => exchange.delivery.arrivals.get(id) ?? 0,
    scan: async (qr: string) => (await exchange.scan(qr)).jid,
    enterCode: async (code: string) => (await exchange.enterCode(code)).jid,
    behave: (misbehaviour: Misbehaviour) => exchange.behave(misbehaviour),
    sendReceipts: (id: string, receipts: readonly Receipt[]) => exchange.delivery.sendReceipts(id, receipts),
    askAgain: (id: string) => exchange.delivery.askAgain(id),
    disconnect: (reason: Reason) => exchange.disconnect(reason),
    leave(forMs?: number) {
      clearTimeout(comesBack);
      away = true;
      exchange.dropAll();
      if (forMs !== undefined) comesBack = setTimeout(platform.comeBack, forMs);
    },
    comeBack() {
      clearTimeout(comesBack);
      away = false;
      exchange.changes.emit("change");
    },
    async until(condition: () => boolean, timeoutMs = defaultWaitMs) {
      const signal = AbortSignal.timeout(timeoutMs);
      while (!condition())
        await once(exchange.changes, "change", { signal }).catch((cause) => {
          throw new Error(`what was awaited did not happen within ${timeoutMs} ms`, { cause });
        });
    },
    async stop() {
      clearTimeout(comesBack);
      exchange.delivery.stop();
      exchange.dropAll();
      sockets.close();
      await Promise.all([loopback.stop(), control.stop(), media.stop()]);
      directory.close();
    },
  };
  const control = await startControl(platform, controlPort);
  return platform;
};
