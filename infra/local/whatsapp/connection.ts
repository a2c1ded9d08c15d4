import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, type proto } from "baileys";
import { WebSocket } from "ws";
import type { Device } from "./phone-account.ts";
import { type Authority, FrameReader, frame, Handshake, type Transport } from "./wire/noise.ts";

/** Handles a connection's events. */
export interface Listener {
  onLogin(connection: Connection, payload: proto.ClientPayload): void | Promise<void>;
  onStanza(connection: Connection, stanza: BinaryNode): void | Promise<void>;
  onClose(connection: Connection): void;
  onFault(fault: unknown): void;
}

/** How long a client may take to close the socket after a stream error. */
const graceMs = 1_000;

class DecryptionError extends Error {}

/** A client's web socket: the handshake, then encrypted stanzas, handled in order. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #reader = new FrameReader();
  readonly #handshake: Handshake;
  readonly #listener: Listener;
  #transport: Transport | undefined;
  #greeted = false;
  #work = Promise.resolve();
  #grace: NodeJS.Timeout | undefined;
  #ended = false;
  /** The client's verified public key, in base64. */
  clientKey = "";
  /** The linked device that logged in on this connection. */
  device: Device | undefined;

  constructor(socket: WebSocket, authority: Authority, listener: Listener) {
    this.#socket = socket;
    this.#handshake = new Handshake(authority);
    this.#listener = listener;
    socket.on("message", (data: Buffer) => this.#take(data));
    socket.on("error", () => this.drop());
    socket.on("close", () => {
      clearTimeout(this.#grace);
      listener.onClose(this);
    });
  }

  #take(data: Buffer) {
    try {
      for (const one of this.#reader.read(data)) {
        this.#work = this.#work
          .then(() => this.#handle(one))
          .catch((fault) => {
            this.#listener.onFault(fault);
            // no error can be sent without working encryption
            if (!this.#transport || fault instanceof DecryptionError) this.drop();
          });
      }
    } catch (fault) {
      this.#listener.onFault(fault);
      this.drop();
    }
  }

  async #handle(data: Buffer) {
    if (this.#ended) return;
    if (this.#transport) {
      const stanza = await decodeBinaryNode(this.#open(this.#transport, data));
      return this.#listener.onStanza(this, stanza);
    }
    if (!this.#greeted) {
      this.#greeted = true;
      this.#socket.send(frame(this.#handshake.answerHello(data)));
      return;
    }
    const { clientKey, payload, transport } = this.#handshake.finish(data);
    this.#transport = transport;
    this.clientKey = clientKey.toString("base64");
    await this.#listener.onLogin(this, payload);
  }

  #open(transport: Transport, data: Buffer) {
    try {
      return transport.open(data);
    } catch (cause) {
      throw new DecryptionError("a frame could not be decrypted", { cause });
    }
  }

  /** Whether neither side has started to close the connection. */
  get isOpen(): boolean {
    return !this.#ended && this.#socket.readyState === WebSocket.OPEN;
  }

  send(stanza: BinaryNode): void {
    if (!this.isOpen || !this.#transport) return;
    this.#socket.send(frame(this.#transport.seal(encodeBinaryNode(stanza))));
  }

  /** Closes the connection without a reason. */
  drop(): void {
    this.#ended = true;
    this.#socket.terminate();
  }

  /**
   * Sends the reason and lets the client close the socket: if the server closed it at once, the client might notice
   * that before it has decoded the reason.
   */
  end(reason: BinaryNode): void {
    this.send(reason);
    this.#ended = true;
    this.#grace = setTimeout(() => this.#socket.terminate(), graceMs);
  }
}
