import { EventEmitter } from "node:events";
import { isPnUser, type WASocket } from "baileys";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import {
  ChannelFailure,
  type ConnectionState,
  enterState,
  type Inbound,
  type Limits,
  type SendOutcome,
  type Stateless,
} from "../channel.ts";
import { logOut, whileOpen, wrapErrors } from "./answer.ts";
import { type Connection, connect } from "./connection.ts";
import type { AuthState } from "./link/auth-state.ts";
import { Link } from "./link/link.ts";
import type { LoginHolds } from "./link/login-holds.ts";
import { Logins } from "./link/logins.ts";
import { type Disconnection, Reconnection } from "./link/reconnection.ts";
import { type Composition, compose, jidOf } from "./message/composition.ts";
import type { Devices } from "./message/devices.ts";
import { askDirectory } from "./message/number-lookup.ts";
import { send } from "./message/relay.ts";
import type { Receipt } from "./receipt.ts";
import type { WhatsAppSettings } from "./settings.ts";

interface Events {
  state: [ConnectionState];
  receipt: [Receipt];
  limits: [Limits];
}

export interface WhatsAppOptions {
  readonly settings: WhatsAppSettings;
  readonly auth: AuthState;
  readonly loginHolds: LoginHolds;
  /** What `compose` returned for an id, for phones that could not decrypt the message. */
  readonly findPayload: (id: string) => Promise<Uint8Array | undefined>;
  /** What a person sends to the account; the platform delivers it again unless this resolves. */
  readonly onInbound?: (inbound: Inbound) => Promise<void>;
}

const defaultAnswerTimeoutMs = 30_000;

/**
 * The WhatsApp connection: at most one socket, reconnected whenever it breaks.
 *
 * @example
 * const auth = await openAuthState({ sql, encryption, epoch });
 * const whatsApp = new WhatsApp({ settings: {}, auth, standing: openStanding(sql), findPayload });
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
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  readonly #link: Link;
  readonly logins: Logins;

  constructor(options: WhatsAppOptions) {
    const { auth, loginHolds, settings } = options;
    this.#options = options;
    const show = (state: Stateless) => this.#setState(state);
    this.#link = new Link({ auth, loginHolds, show });
    this.logins = new Logins({ ...settings, auth, loginHolds, show });
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
    const { since: _, downSince: __, ...state } = this.#state;
    const code = await wrapErrors(this.#requireConnection().socket.requestPairingCode(phone));
    this.#setState({ ...state, code });
    return code;
  }

  /**
   * Deletes the keys and, if connected, removes the device from the account. Pairing starts again if this is running.
   *
   * @returns false if the phone may still list the device.
   */
  async unlink(): Promise<boolean> {
    const wasPaired = this.#link.isPaired;
    // before the logout: the platform answers it with the code of a removed link, which would hold logins. Also while
    // this is not running: a connection that is started meanwhile must not use the keys
    const removed = this.#link.remove();
    if (!this.#isRunning) {
      await this.#link.clear().catch((error: unknown) => {
        if (this.#isRunning) return;
        this.#link.abandon();
        throw error;
      });
      await removed;
      return !wasPaired;
    }
    const connection = this.#connection;
    const isLoggedOut = connection && this.#state.kind === "open" && (await logOut(connection));
    connection?.end();
    this.logins.end();
    await removed;
    return isLoggedOut || !wasPaired;
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
    const answers = await this.query((socket) => askDirectory(socket.onWhatsApp(phone)));
    if (!answers) throw new ChannelFailure("directory-failed", false);
    const found = answers.find(({ exists }) => exists === true);
    if (!found) return undefined;
    const jid = isPnUser(found.jid) ? found.jid : jidOf(phone);
    // the number may have passed to another person: stores its LID of today
    await this.query((socket) => askDirectory(socket.getUSyncDevices([jid], false, false)));
    return jid;
  }

  /** The cached devices of the current connection. */
  get devices(): Devices | undefined {
    return this.#connection?.devices;
  }

  /**
   * Builds a message's payload and uploads its media. Store the payload before sending it: every send of a
   * message must use the same bytes.
   *
   * @throws ChannelFailure
   */
  async compose(composition: Composition, signal: AbortSignal): Promise<Uint8Array> {
    const { socket, lost } = this.#requireOpen();
    return wrapErrors(whileOpen(compose(socket, composition, signal), lost), signal);
  }

  /**
   * Sends a payload made by `compose`. May be repeated: phones deduplicate by id.
   *
   * @throws ChannelFailure whose `mayHaveLeft` says whether the platform may have it.
   */
  async send(payload: Uint8Array, signal: AbortSignal): Promise<SendOutcome> {
    const { socket, devices, lost } = this.#requireOpen();
    const timeoutMs = this.#options.settings.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    return send(socket, { payload, devices, lost, signal, timeoutMs });
  }

  #requireConnection(): Connection {
    if (!this.#connection) throw new ChannelFailure("not-connected", false);
    return this.#connection;
  }

  #requireOpen(): Connection {
    if (this.#state.kind !== "open") throw new ChannelFailure("not-connected", false);
    return this.#requireConnection();
  }

  #setState(state: Stateless): void {
    this.#state = enterState(this.#state, state);
    this.#events.emit("state", this.#state);
  }

  async #connect(reconnection: Reconnection): Promise<Disconnection> {
    const { settings, auth, findPayload, onInbound = async () => {} } = this.#options;
    this.#setState({ kind: "connecting" });
    this.#link.recordLogin();
    const lease = auth.acquire();
    // credentials that an earlier connection failed to store, or new ones before a phone links them
    await lease.saveCreds();
    const connection = connect({
      settings,
      lease,
      version: this.logins.version,
      findPayload,
      onInbound,
      onQr: (qr) => {
        const code = this.#state.kind === "pairing" ? this.#state.code : undefined;
        const passkey = this.#link.demandsPasskey && { passkey: true as const };
        this.#setState({ kind: "pairing", qr, ...(code && { code }), ...passkey });
      },
      onPasskey: () => {
        this.#link.recordPasskey();
        if (this.#state.kind !== "pairing") return;
        const { since: _, downSince: __, ...state } = this.#state;
        this.#setState({ ...state, passkey: true });
      },
      onOpen: (as) => {
        this.logins.recordOpen();
        reconnection.recordOpen(steadyNow());
        this.#setState({ kind: "open", as });
      },
      onReceipt: (receipt) => this.#events.emit("receipt", receipt),
      onLimits: (limits) => this.#events.emit("limits", limits),
    });
    this.#connection = connection;
    if (this.#stopping.signal.aborted || this.#link.mustChange) connection.end();
    return connection.ended.finally(() => {
      this.#connection = undefined;
    });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const reconnection = new Reconnection(this.#options.settings.reconnection);
    let mayBeHeld = true;
    while (!signal.aborted) {
      if (this.#link.mustChange) {
        await this.#link.change(signal);
        mayBeHeld = true;
        continue;
      }
      if (mayBeHeld) {
        await this.logins.awaitHold(signal);
        mayBeHeld = false;
        continue;
      }
      const disconnection = await this.#connect(reconnection).catch((error: unknown) => {
        log.error("cannot connect to the platform", { error });
        return { code: undefined };
      });
      if (signal.aborted || this.#link.mustChange) continue;
      const { code } = disconnection;
      const next = reconnection.next(disconnection, steadyNow());
      const afterMs = "afterMs" in next ? Math.round(next.afterMs) : undefined;
      log.info("WhatsApp connection closed", { code, step: next.step, after_ms: afterMs });
      if (next.step === "yield") {
        this.#isRunning = false;
        return this.#setState({ kind: "replaced" });
      }
      if (!(await this.logins.prepare(next, code, signal))) void this.#link.renew();
    }
    this.#link.abandon();
    this.#setState({ kind: "closed" });
  }
}
