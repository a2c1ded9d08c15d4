import { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { WASocket, WAVersion } from "baileys";
import { log } from "#lib/log.ts";
import type { SendOutcome } from "../channel.ts";
import { ChannelFailure } from "../channel-failure.ts";
import type { AuthState } from "./auth-state.ts";
import { type Composition, compose } from "./composition.ts";
import { type Connection, connect, type Ending } from "./connection.ts";
import type { Receipt } from "./receipt.ts";
import { Reconnection, type ReconnectionOptions } from "./reconnection.ts";
import { send } from "./relay.ts";

/** Where the platform is. Nothing set: the real WhatsApp. */
export interface WhatsAppSettings {
  /** Another WebSocket address, such as the fake platform's. */
  readonly url?: string;
  /** The key that signs that server's certificate, in place of WhatsApp's. It holds for the whole process. */
  readonly rootKey?: Uint8Array;
  /** PEM of the certificate authority of that platform's media servers. */
  readonly mediaCa?: string;
  /** How this session is called on the phone; a name that WhatsApp does not know may refuse pairing codes. */
  readonly browserName?: string;
  /** WhatsApp Web's version, when the library's is refused as too old (405). */
  readonly version?: WAVersion;
  /** For the answer to a message. */
  readonly answerTimeoutMs?: number;
  readonly reconnection?: ReconnectionOptions;
}

export type ConnectionState = { readonly since: Date } & (
  | { readonly kind: "closed"; readonly code?: number | undefined; readonly retryAt?: Date }
  | { readonly kind: "connecting" }
  /** Waits for a phone: `qr` is to be drawn as it is, `code` to be typed there. */
  | { readonly kind: "pairing"; readonly qr: string; readonly code?: string }
  | { readonly kind: "open"; readonly as: string }
  /** The phone has unlinked the session; pairing begins anew. */
  | { readonly kind: "unpaired" }
  /** Another connection took this one's place; `start()` takes it back, which only a leader may do. */
  | { readonly kind: "replaced" }
);

type Stateless<S> = S extends ConnectionState ? Omit<S, "since"> : never;

interface Events {
  state: [ConnectionState];
  receipt: [Receipt];
}

export interface WhatsAppOptions {
  readonly settings: WhatsAppSettings;
  readonly auth: AuthState;
  /** What `compose` gave for an id, so that a phone that could not read a message gets it again. */
  readonly findPayload: (id: string) => Promise<Uint8Array | undefined>;
}

const defaultAnswerTimeoutMs = 30_000;

/**
 * The session with WhatsApp: one socket at most, connected again whenever it breaks.
 *
 * @example
 * const platform = new WhatsApp({ settings: {}, auth: await openAuthState({ sql, sealing, epoch }), findPayload });
 * platform.on("receipt", ({ id, kind }) => …);
 * platform.start();
 * const payload = await platform.compose({ id, phone, kind: "text", text }, signal); // to be persisted
 * const { outcome } = await platform.send(payload, signal);
 * await platform.stop();
 */
export class WhatsApp {
  readonly #options: WhatsAppOptions;
  readonly #events = new EventEmitter<Events>();
  #state: ConnectionState = { kind: "closed", since: new Date() };
  #connection: Connection | undefined;
  #stopping = new AbortController();
  #waking = new AbortController();
  #driving: Promise<void> = Promise.resolve();
  #isDriving = false;
  #forgets = false;

  constructor(options: WhatsAppOptions) {
    this.#options = options;
  }

  state(): ConnectionState {
    return this.#state;
  }

  /** @returns ends the listening. */
  on<E extends keyof Events>(event: E, listener: (value: Events[E][0]) => void): () => void {
    const heard = (value: unknown) => {
      try {
        listener(value as Events[E][0]);
      } catch (error) {
        log.error("a listener of the platform failed", { event, error });
      }
    };
    this.#events.on(event as never, heard as never);
    return () => void this.#events.off(event as never, heard as never);
  }

  /** Connects, and stays connected until `stop()` or until another connection takes the place. */
  start(): void {
    if (this.#isDriving) return;
    this.#isDriving = true;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    // not within the caller, who may be a listener: the others would hear of the new state before the old one
    this.#driving = Promise.resolve().then(() => this.#drive(signal));
  }

  /** Ends the socket at once; resolves when it is closed and all it had to write is written. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#connection?.end();
    await this.#driving;
    this.#isDriving = false;
    if (this.#state.kind !== "closed") this.#become({ kind: "closed" });
  }

  /**
   * The code that links the session when it is typed on this phone, in place of the QR.
   *
   * @throws ChannelFailure unless the state is `pairing`.
   */
  async requestPairingCode(phone: string): Promise<string> {
    if (this.#state.kind !== "pairing") throw new ChannelFailure("not-connected", false);
    const { qr } = this.#state;
    const code = await ask(this.#requireConnection().socket.requestPairingCode(phone));
    this.#become({ kind: "pairing", qr, code });
    return code;
  }

  /** Unlinks the session, here and on the phone when it is connected. Pairing begins anew where it runs. */
  async unlink(): Promise<void> {
    const { auth } = this.#options;
    if (!this.#isDriving) {
      await auth.clear();
      this.#become({ kind: "unpaired" });
      return;
    }
    const { promise: isForgotten, resolve } = Promise.withResolvers<void>();
    const off = this.on("state", ({ kind }) => {
      if (kind === "unpaired" || this.#stopping.signal.aborted) resolve();
    });
    if (this.#state.kind === "open") await this.#connection?.socket.logout().catch(() => {});
    this.#forgets = true;
    this.#connection?.end();
    this.#waking.abort();
    await isForgotten;
    off();
  }

  /** Asks the platform whether a number has an account. @throws ChannelFailure when it does not say. */
  async isRegistered(phone: string): Promise<boolean> {
    const { socket, ended } = this.#requireOpen();
    const answers = await ask(whileOpen(socket.onWhatsApp(phone), ended));
    if (!answers) throw new ChannelFailure("no-answer", false);
    return answers.some(({ exists }) => exists === true);
  }

  /**
   * Makes what goes to the recipient, once, and uploads its media. The bytes are to be persisted before
   * they are sent: every send of a message must be of the same bytes.
   *
   * @throws ChannelFailure
   */
  async compose(composition: Composition, signal: AbortSignal): Promise<Uint8Array> {
    const { socket, ended } = this.#requireOpen();
    return ask(whileOpen(compose(socket, ownJid(socket), composition, signal), ended), signal);
  }

  /**
   * Sends what `compose` made. May be repeated: phones know the id and show it once.
   *
   * @throws ChannelFailure whose `mayHaveLeft` says whether the platform may have it.
   */
  async send(payload: Uint8Array, signal: AbortSignal): Promise<SendOutcome> {
    const { socket, ended } = this.#requireOpen();
    const timeoutMs = this.#options.settings.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    return send(socket, { payload, own: ownJid(socket), lost: ended, signal, timeoutMs });
  }

  #requireConnection(): Connection {
    if (!this.#connection) throw new ChannelFailure("not-connected", false);
    return this.#connection;
  }

  #requireOpen(): Connection {
    if (this.#state.kind !== "open") throw new ChannelFailure("not-connected", false);
    return this.#requireConnection();
  }

  #become(state: Stateless<ConnectionState>): void {
    this.#state = { ...state, since: new Date() } as ConnectionState;
    this.#events.emit("state", this.#state);
  }

  /** One socket, from its opening to its end. */
  async #connect(reconnection: Reconnection): Promise<Ending> {
    const { settings, auth, findPayload } = this.#options;
    this.#become({ kind: "connecting" });
    const lease = auth.lend();
    // what an earlier connection could not keep, and keys that a phone is about to link
    await lease.saveCreds();
    const connection = connect({
      settings,
      lease,
      findPayload,
      onQr: (qr) => {
        const code = this.#state.kind === "pairing" ? this.#state.code : undefined;
        this.#become({ kind: "pairing", qr, ...(code && { code }) });
      },
      onOpen: (as) => {
        reconnection.noteOpen(Date.now());
        this.#become({ kind: "open", as });
      },
      onReceipt: (receipt) => this.#events.emit("receipt", receipt),
    });
    this.#connection = connection;
    if (this.#stopping.signal.aborted || this.#forgets) connection.end();
    return connection.ended.finally(() => {
      this.#connection = undefined;
    });
  }

  async #drive(signal: AbortSignal): Promise<void> {
    const reconnection = new Reconnection(this.#options.settings.reconnection);
    while (!signal.aborted) {
      if (this.#forgets) {
        await this.#forget(signal);
        continue;
      }
      const { code } = await this.#connect(reconnection).catch((error: unknown) => {
        log.error("cannot connect to the platform", { error });
        return { code: undefined };
      });
      if (signal.aborted || this.#forgets) continue;
      const next = reconnection.next(code, Date.now());
      if (next.step === "yield") {
        this.#isDriving = false;
        return this.#become({ kind: "replaced" });
      }
      if (next.step === "forget") this.#forgets = true;
      log.info("platform connection closed", { code, after_ms: Math.round(next.afterMs) });
      await this.#rest(code, next.afterMs, signal);
    }
    this.#become({ kind: "closed" });
  }

  /** Waits before the next connection, unless the session is to be forgotten or ended. */
  async #rest(code: number | undefined, afterMs: number, signal: AbortSignal): Promise<void> {
    this.#waking = new AbortController();
    this.#become({ kind: "closed", code, retryAt: new Date(Date.now() + afterMs) });
    const ends = AbortSignal.any([signal, this.#waking.signal]);
    await setTimeout(afterMs, undefined, { signal: ends }).catch(() => {});
  }

  /** The credentials are of no use any more; until they are gone there is no pairing. */
  async #forget(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#options.auth.clear();
        this.#forgets = false;
        this.#become({ kind: "unpaired" });
        return;
      } catch (error) {
        log.error("the unlinked session's keys cannot be removed", { error });
        await setTimeout(1_000, undefined, { signal }).catch(() => {});
      }
    }
  }
}

const ownJid = (socket: WASocket): string => {
  const [user] = socket.user?.id.split(/[:@]/) ?? [];
  return `${user}@s.whatsapp.net`;
};

/** What is answered before the connection ends: baileys waits 20 s for an answer that cannot come any more. */
const whileOpen = <T>(answer: Promise<T>, ended: Promise<unknown>): Promise<T> =>
  Promise.race([
    answer,
    ended.then((): never => {
      throw new ChannelFailure("connection-lost", false);
    }),
  ]);

/** Lets every failure of the library be one of ours; its own carry stanzas. */
const ask = async <T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(signal?.aborted ? "aborted" : "failed", false, cause);
  }
};
