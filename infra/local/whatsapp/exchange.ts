import { EventEmitter } from "node:events";
import type { BinaryNode, proto } from "baileys";
import type { Account, Device } from "./account.ts";
import { Behaviour, type Misbehaviour } from "./behaviour.ts";
import type { Connection, Listener } from "./connection.ts";
import { Delivery } from "./delivery.ts";
import { Pairing } from "./pairing.ts";
import type { Phone } from "./phone.ts";
import { answer, type Knowledge } from "./queries.ts";
import { element, findChild, firstChild, secondsNow, serverJid } from "./stanza.ts";

/** Sockets now, and the most there ever were at once. */
export interface Sockets {
  readonly open: number;
  readonly loggedIn: number;
  readonly mostOpen: number;
  readonly mostLoggedIn: number;
  readonly everOpened: number;
}

/** Why the platform ends a connection: a code, or no word at all. */
export type Reason = "drop" | number;

const streamError = (code: number): BinaryNode => {
  const conflict = (type: string) => [element("conflict", { type })];
  // as WhatsApp does, 440 is said by the conflict alone
  if (code === 440) return element("stream:error", {}, conflict("replaced"));
  if (code === 401) return element("stream:error", { code: "401" }, conflict("device_removed"));
  return element("stream:error", { code: String(code) });
};

/** The answer to a login that is refused. */
const failure = (code: number) => element("failure", { reason: String(code), location: "fake" });

/** What happens between the platform and its clients, from login to logout. */
export class Exchange implements Listener {
  readonly #account: Account;
  readonly #knowledge: Knowledge;
  readonly #connections = new Set<Connection>();
  readonly #pairings = new Map<Connection, Pairing>();
  readonly #most = { open: 0, loggedIn: 0, ever: 0 };
  readonly changes = new EventEmitter<{ change: [] }>().setMaxListeners(0);
  readonly delivery: Delivery;
  /** What went wrong here that no behaviour asked for; empty after a good test. */
  readonly faults: string[] = [];
  behaviour: Behaviour = Behaviour.parse({});

  constructor(knowledge: Knowledge) {
    this.#knowledge = knowledge;
    this.#account = knowledge.account;
    const changed = () => this.#change();
    this.delivery = new Delivery(knowledge.account, knowledge.directory, () => this.behaviour, changed);
  }

  #change() {
    this.changes.emit("change");
  }

  behave(misbehaviour: Misbehaviour): void {
    this.behaviour = Behaviour.parse(misbehaviour);
  }

  #live() {
    return [...this.#connections].filter(({ isOpen }) => isOpen);
  }

  #count() {
    const live = this.#live();
    return { open: live.length, loggedIn: live.filter(({ device }) => device).length };
  }

  #recount() {
    const { open, loggedIn } = this.#count();
    this.#most.open = Math.max(this.#most.open, open);
    this.#most.loggedIn = Math.max(this.#most.loggedIn, loggedIn);
    this.#change();
  }

  get sockets(): Sockets {
    const { open: mostOpen, loggedIn: mostLoggedIn, ever: everOpened } = this.#most;
    return { ...this.#count(), mostOpen, mostLoggedIn, everOpened };
  }

  get unacknowledged(): number {
    return this.#account.devices.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0);
  }

  open(connection: Connection): void {
    this.#connections.add(connection);
    this.#most.ever += 1;
    this.#recount();
  }

  onClose(connection: Connection): void {
    this.#connections.delete(connection);
    this.#pairings.delete(connection);
    this.#change();
  }

  onFault(fault: unknown): void {
    this.faults.push(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    this.#change();
  }

  onLogin(connection: Connection, payload: proto.ClientPayload): void {
    const { loginFailure } = this.behaviour;
    const device = this.#account.find(connection.clientKey);
    if (loginFailure) connection.end(failure(loginFailure));
    else if (payload.devicePairingData) this.#pair(connection, payload);
    else if (device && device.id === payload.device) this.#admit(connection, device);
    else connection.end(failure(401));
    this.#change();
  }

  #pair(connection: Connection, payload: proto.ClientPayload) {
    const pairing = new Pairing(connection, this.#account, payload);
    this.#pairings.set(connection, pairing);
    pairing.offer();
  }

  #admit(connection: Connection, device: Device) {
    connection.device = device;
    // counted before the older one goes: two sessions at once are what a test looks for
    this.#recount();
    if (this.behaviour.replaceOlder)
      for (const older of this.#live())
        if (older !== connection && older.device === device) older.end(streamError(440));
    device.connection = connection;
    connection.send(element("success", { t: secondsNow(), lid: device.lid, location: "fake" }));
    const offline = element("offline", { count: String(device.catchUp()) });
    connection.send(element("ib", { from: serverJid }, [offline]));
  }

  async onStanza(connection: Connection, stanza: BinaryNode): Promise<void> {
    const { device } = connection;
    if (stanza.tag === "iq" && stanza.attrs.type === "result") this.#pairings.get(connection)?.accept(stanza);
    else if (stanza.tag === "iq") await this.#answer(connection, stanza);
    else if (stanza.tag === "message" && device) await this.delivery.deliver(connection, device, stanza);
    else if (stanza.tag === "receipt") this.#acknowledge(connection, stanza);
    else if (stanza.tag === "ack") device?.acknowledge(stanza.attrs);
    this.#change();
  }

  #acknowledge(connection: Connection, { tag, attrs: { id = "", to = "", type } }: BinaryNode) {
    connection.send(element("ack", { class: tag, id, from: to, ...(type && { type }) }));
  }

  /** A phone writes to every linked device. @returns the messages' ids. */
  async write(phone: Phone, text: string): Promise<string[]> {
    const written = this.#account.devices.map(async (device) => {
      const message = await phone.write(text, device);
      device.push(message);
      return message.attrs.id ?? "";
    });
    return Promise.all(written);
  }

  async #answer(connection: Connection, iq: BinaryNode) {
    const attrs = { from: serverJid, id: iq.attrs.id ?? "" };
    try {
      const content = await this.#contentOf(connection, iq);
      connection.send(element("iq", { ...attrs, type: "result" }, content));
    } catch (fault) {
      this.onFault(fault);
      const error = element("error", { code: "400", text: "bad-request" });
      connection.send(element("iq", { ...attrs, type: "error" }, [error]));
    }
    if (findChild(iq, "remove-companion-device")) this.#unlink(connection.device);
  }

  async #contentOf(connection: Connection, iq: BinaryNode): Promise<BinaryNode[]> {
    const asked = firstChild(iq);
    if (asked?.tag === "link_code_companion_reg") {
      const pairing = this.#pairings.get(connection);
      if (asked.attrs.stage === "companion_hello") return pairing?.showCode(asked) ?? [];
      if (pairing && !pairing.finishCode(asked)) return [element("error", { code: "406" })];
      return [];
    }
    return connection.device ? answer(iq, connection.device, this.#knowledge) : [];
  }

  /** The account's phone scans a QR code. @returns the device that it links by it. */
  async scan(qr: string): Promise<Device> {
    const [ref = "", clientKey = "", identityKey = "", secret = ""] = qr.replace(/^[^#]*#/, "").split(",");
    const pairing = [...this.#pairings.values()].find((waiting) => waiting.owns(ref));
    if (!pairing) throw new Error("no client that is connected shows this QR code");
    return pairing.scan(clientKey, identityKey, secret);
  }

  #showingCode() {
    return [...this.#pairings.values()].findLast(({ awaitsCode }) => awaitsCode);
  }

  /** Whether a client shows a pairing code at the moment. */
  get codeAwaited(): boolean {
    return this.#showingCode() !== undefined;
  }

  /** The account's phone is given a pairing code. @returns the device that it links by it. */
  async enterCode(code: string): Promise<Device> {
    const pairing = this.#showingCode();
    if (!pairing) throw new Error("no client that is connected shows a pairing code");
    return pairing.enterCode(code);
  }

  #unlink(device: Device | undefined) {
    if (device) this.#account.unlink(device);
  }

  /** Ends the connections of all linked devices; 401 unlinks them. */
  disconnect(reason: Reason): void {
    for (const connection of this.#live()) {
      if (!connection.device) continue;
      if (reason === 401) this.#unlink(connection.device);
      if (reason === "drop") connection.drop();
      else connection.end(streamError(reason));
    }
    this.#change();
  }

  dropAll(): void {
    for (const connection of this.#connections) connection.drop();
  }
}
