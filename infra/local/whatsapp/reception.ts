import type { BinaryNode, proto } from "baileys";
import type { Connection, Listener } from "./connection.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Hands the clients of a platform to the exchanges of the accounts that they are linked to. Until a client is linked, it is at
 * the first one: which account it becomes is decided by the phone that scans its code.
 */
export class Reception implements Listener {
  readonly #exchanges: Exchange[] = [];
  readonly #chosen = new WeakMap<Connection, Exchange>();

  /** The first one added is that of clients without an account. */
  add(exchange: Exchange): void {
    this.#exchanges.push(exchange);
  }

  #find(connection: Connection): Exchange {
    const exchange = this.#chosen.get(connection) ?? this.#exchanges[0];
    if (!exchange) throw new Error("the platform has no account");
    return exchange;
  }

  open(connection: Connection): void {
    this.#find(connection).open(connection);
  }

  onLogin(connection: Connection, payload: proto.ClientPayload): void {
    const own = this.#exchanges.find((exchange) => exchange.knows(connection.clientKey));
    if (own && own !== this.#find(connection)) {
      this.#find(connection).onClose(connection);
      this.#chosen.set(connection, own);
      own.open(connection);
    }
    this.#find(connection).onLogin(connection, payload);
  }

  onStanza(connection: Connection, stanza: BinaryNode): Promise<void> {
    return this.#find(connection).onStanza(connection, stanza);
  }

  onClose(connection: Connection): void {
    this.#find(connection).onClose(connection);
  }

  onFault(fault: unknown): void {
    this.#exchanges[0]?.onFault(fault);
  }
}
