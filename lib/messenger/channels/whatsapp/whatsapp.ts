import { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import { isPnUser, type WASocket, type WAVersion } from "baileys";
import { log } from "#lib/log.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { ChannelFailure, type Limits, type SendOutcome } from "../channel.ts";
import type { AuthState } from "./auth-state.ts";
import { type Composition, compose, jidOf } from "./composition.ts";
import { type Connection, connect, type Disconnection } from "./connection.ts";
import type { Receipt } from "./receipt.ts";
import { Reconnection, type ReconnectionOptions } from "./reconnection.ts";
import { send } from "./relay.ts";

/** How to reach the platform; by default the real WhatsApp. */
export interface WhatsAppSettings {
  /** Another WebSocket address, such as the fake platform's. */
  readonly url?: string;
  /** The key that signs that server's certificate, in place of WhatsApp's. Applies to the whole process. */
  readonly rootKey?: Uint8Array;
  /** PEM of the certificate authority of that platform's media servers. */
  readonly mediaCa?: string;
  /** The version of WhatsApp Web to announce, when the library's is rejected as too old (405). */
  readonly version?: WAVersion;
  readonly answerTimeoutMs?: number;
  readonly reconnection?: ReconnectionOptions;
}

export type ConnectionState = { readonly since: Date } & (
  | { readonly kind: "closed"; readonly code?: number | undefined; readonly retryAt?: Date }
  | { readonly kind: "connecting" }
  /** Waits for a phone to scan `qr`, or to enter `code`. */
  | { readonly kind: "pairing"; readonly qr: string; readonly code?: string }
  | { readonly kind: "open"; readonly as: string }
  /** The link was removed; pairing starts again. */
  | { readonly kind: "unpaired" }
  /** Another connection has replaced this one; `start()` reclaims it, which only the leader may do. */
  | { readonly kind: "replaced" }
);

type Stateless<S> = S extends ConnectionState ? Omit<S, "since"> : never;

interface Events {
  state: [ConnectionState];
  receipt: [Receipt];
  limits: [Limits];
}

export interface WhatsAppOptions {
  readonly settings: WhatsAppSettings;
  readonly auth: AuthState;
  /** What `compose` returned for an id, for phones that could not decrypt the message. */
  readonly findPayload: (id: string) => Promise<Uint8Array | undefined>;
}

const defaultAnswerTimeoutMs = 30_000;

/**
 * The WhatsApp connection: at most one socket, reconnected whenever it breaks.
 *
 * @example
 * const whatsApp = new WhatsApp({ settings: {}, auth: await openAuthState({ sql, encryption, epoch }), findPayload });
 * whatsApp.on("receipt", ({ id, kind }) => …);
 * whatsApp.start();
 * const payload = await whatsApp.compose({ id, phone, kind: "text", text }, signal); // store it before sending
 * const { outcome } = await whatsApp.send(payload, signal);
 * await whatsApp.stop();
 */
export class WhatsApp {
  readonly #options: WhatsAppOptions;
  readonly #events = new EventEmitter<Events>();
  #state: ConnectionState = { kind: "closed", since: new Date() };
  #connection: Connection | undefined;
  #stopping = new AbortController();
  #reconnecting = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #mustUnlink = false;

  constructor(options: WhatsAppOptions) {
    this.#options = options;
  }

  state(): ConnectionState {
    return this.#state;
  }

  /** @returns a function that removes the listener. */
  on<E extends keyof Events>(event: E, listener: (value: Events[E][0]) => void): () => void {
    const guarded = (value: unknown) => {
      try {
        listener(value as Events[E][0]);
      } catch (error) {
        log.error("a listener of the WhatsApp connection failed", { event, error });
      }
    };
    this.#events.on(event as never, guarded as never);
    return () => void this.#events.off(event as never, guarded as never);
  }

  /** Connects, and reconnects until `stop()` or until another connection replaces this one. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    // asynchronously: if the caller is a listener, the others would see the new state before the old one
    this.#running = Promise.resolve().then(() => this.#run(signal));
  }

  /** Closes the socket at once; resolves when it is closed and pending writes are done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#connection?.end();
    await this.#running;
    this.#isRunning = false;
    if (this.#state.kind !== "closed") this.#setState({ kind: "closed" });
  }

  /**
   * Requests a code that links this phone when it is entered there, in place of the QR code.
   *
   * @throws ChannelFailure unless the state is `pairing`.
   */
  async requestPairingCode(phone: string): Promise<string> {
    if (this.#state.kind !== "pairing") throw new ChannelFailure("not-connected", false);
    const { qr } = this.#state;
    const code = await wrapErrors(this.#requireConnection().socket.requestPairingCode(phone));
    this.#setState({ kind: "pairing", qr, code });
    return code;
  }

  /** Removes the link, on the phone too if connected. Pairing starts again if this is running. */
  async unlink(): Promise<void> {
    const { auth } = this.#options;
    if (!this.#isRunning) {
      await auth.clear();
      this.#setState({ kind: "unpaired" });
      return;
    }
    const { promise: unlinked, resolve } = Promise.withResolvers<void>();
    const off = this.on("state", ({ kind }) => {
      if (kind === "unpaired" || this.#stopping.signal.aborted) resolve();
    });
    if (this.#state.kind === "open") await this.#connection?.socket.logout().catch(() => {});
    this.#mustUnlink = true;
    this.#connection?.end();
    this.#reconnecting.abort();
    await unlinked;
    off();
  }

  /** Queries the platform with the library. @throws ChannelFailure when it does not answer. */
  async query<T>(ask: (socket: WASocket) => Promise<T>): Promise<T> {
    const { socket, lost } = this.#requireOpen();
    return wrapErrors(whileOpen(ask(socket), lost));
  }

  /**
   * Returns the jid of a number; undefined without an account. It may have another number, such as a Brazilian one
   * without its ninth digit.
   *
   * @throws ChannelFailure when the platform does not answer.
   */
  async findJid(phone: string): Promise<string | undefined> {
    const answers = await this.query((socket) => socket.onWhatsApp(phone));
    if (!answers) throw new ChannelFailure("no-answer", false);
    const found = answers.find(({ exists }) => exists === true);
    return found && (isPnUser(found.jid) ? found.jid : jidOf(phone));
  }

  /**
   * Builds a message's payload and uploads its media. Store the payload before sending it: every send of a
   * message must use the same bytes.
   *
   * @throws ChannelFailure
   */
  async compose(composition: Composition, signal: AbortSignal): Promise<Uint8Array> {
    const { socket, lost } = this.#requireOpen();
    return wrapErrors(whileOpen(compose(socket, ownJid(socket), composition, signal), lost), signal);
  }

  /**
   * Sends a payload made by `compose`. May be repeated: phones deduplicate by id.
   *
   * @throws ChannelFailure whose `mayHaveLeft` says whether the platform may have it.
   */
  async send(payload: Uint8Array, signal: AbortSignal): Promise<SendOutcome> {
    const { socket, lost } = this.#requireOpen();
    const timeoutMs = this.#options.settings.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    return send(socket, { payload, lost, signal, timeoutMs });
  }

  #requireConnection(): Connection {
    if (!this.#connection) throw new ChannelFailure("not-connected", false);
    return this.#connection;
  }

  #requireOpen(): Connection {
    if (this.#state.kind !== "open") throw new ChannelFailure("not-connected", false);
    return this.#requireConnection();
  }

  #setState(state: Stateless<ConnectionState>): void {
    this.#state = { ...state, since: new Date() } as ConnectionState;
    this.#events.emit("state", this.#state);
  }

  async #connect(reconnection: Reconnection): Promise<Disconnection> {
    const { settings, auth, findPayload } = this.#options;
    this.#setState({ kind: "connecting" });
    const lease = auth.acquire();
    // credentials that an earlier connection failed to store, or new ones before a phone links them
    await lease.saveCreds();
    const connection = connect({
      settings,
      lease,
      findPayload,
      onQr: (qr) => {
        const code = this.#state.kind === "pairing" ? this.#state.code : undefined;
        this.#setState({ kind: "pairing", qr, ...(code && { code }) });
      },
      onOpen: (as) => {
        reconnection.recordOpen(steadyNow());
        this.#setState({ kind: "open", as });
      },
      onReceipt: (receipt) => this.#events.emit("receipt", receipt),
      onLimits: (limits) => this.#events.emit("limits", limits),
    });
    this.#connection = connection;
    if (this.#stopping.signal.aborted || this.#mustUnlink) connection.end();
    return connection.ended.finally(() => {
      this.#connection = undefined;
    });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const reconnection = new Reconnection(this.#options.settings.reconnection);
    while (!signal.aborted) {
      if (this.#mustUnlink) {
        await this.#clearAuth(signal);
        continue;
      }
      const { code } = await this.#connect(reconnection).catch((error: unknown) => {
        log.error("cannot connect to the platform", { error });
        return { code: undefined };
      });
      if (signal.aborted || this.#mustUnlink) continue;
      const next = reconnection.next(code, steadyNow());
      if (next.step === "yield") {
        this.#isRunning = false;
        return this.#setState({ kind: "replaced" });
      }
      if (next.step === "unlink") this.#mustUnlink = true;
      log.info("WhatsApp connection closed", { code, after_ms: Math.round(next.afterMs) });
      await this.#waitToReconnect(code, next.afterMs, signal);
    }
    this.#setState({ kind: "closed" });
  }

  /** Waits before the next connection, unless it is stopped or unlinked meanwhile. */
  async #waitToReconnect(code: number | undefined, afterMs: number, signal: AbortSignal): Promise<void> {
    this.#reconnecting = new AbortController();
    this.#setState({ kind: "closed", code, retryAt: new Date(Date.now() + afterMs) });
    const ends = AbortSignal.any([signal, this.#reconnecting.signal]);
    await setTimeout(afterMs, undefined, { signal: ends }).catch(() => {});
  }

  /** Deletes credentials that are no longer valid, retrying until it succeeds: pairing needs new ones. */
  async #clearAuth(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#options.auth.clear();
        this.#mustUnlink = false;
        this.#setState({ kind: "unpaired" });
        return;
      } catch (error) {
        log.error("cannot delete the keys of the unlinked device", { error });
        await setTimeout(1_000, undefined, { signal }).catch(() => {});
      }
    }
  }
}

const ownJid = (socket: WASocket): string => {
  const [user] = socket.user?.id.split(/[:@]/) ?? [];
  return `${user}@s.whatsapp.net`;
};

/** Rejects as soon as the connection ends: baileys waits 20 s for an answer that cannot arrive any more. */
const whileOpen = async <T>(answer: Promise<T>, lost: AbortSignal): Promise<T> => {
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const lose = () => reject(new ChannelFailure("connection-lost", false));
  lost.addEventListener("abort", lose, { once: true });
  try {
    return await Promise.race([answer, interrupted]);
  } finally {
    lost.removeEventListener("abort", lose);
  }
};

/** Converts errors of the library, which contain stanzas, to a ChannelFailure. */
const wrapErrors = async <T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(signal?.aborted ? "aborted" : "failed", false, cause);
  }
};
