import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { deflateSync } from "node:zlib";
import { type BinaryNode, getAllBinaryNodeChildren, getBinaryNodeChild, proto } from "baileys";
import { Behaviour, type FailureModes, rejectionOf, spend } from "./behaviour.ts";
import { closingOf, failureOf, type Reason } from "./closing.ts";
import type { Connection, Listener } from "./connection.ts";
import { Delivery } from "./delivery.ts";
import { NewChatLimits } from "./new-chats.ts";
import { Pairing } from "./pairing.ts";
import type { Envelope, Phone } from "./phone.ts";
import type { Account, Device } from "./phone-account.ts";
import { answer, type Knowledge } from "./queries.ts";
import { element, secondsNow, serverJid } from "./wire/stanza.ts";

/** Numbers of sockets now, at most at the same time, and in total. */
export interface Sockets {
  readonly open: number;
  readonly loggedIn: number;
  readonly mostOpen: number;
  readonly mostLoggedIn: number;
  readonly everOpened: number;
  /** Logins that were tried in total, links included. */
  readonly logins: number;
}

/** Handles the platform's clients from login to logout. */
export class Exchange implements Listener {
  readonly #account: Account;
  readonly #knowledge: Knowledge;
  readonly #connections = new Set<Connection>();
  readonly #pairings: Map<Connection, Pairing>;
  readonly #most = { open: 0, loggedIn: 0, ever: 0, logins: 0 };
  readonly changes = new EventEmitter<{ change: [] }>().setMaxListeners(0);
  readonly delivery: Delivery;
  /** Unexpected errors of the platform. */
  readonly faults: string[] = [];
  behaviour: Behaviour = Behaviour.parse({});

  /** @param pairings those of all accounts of the platform. */
  constructor(known: Omit<Knowledge, "newChats">, pairings = new Map<Connection, Pairing>()) {
    this.#pairings = pairings;
    const behaviour = () => this.behaviour;
    this.#knowledge = { ...known, newChats: new NewChatLimits(behaviour) };
    this.#account = known.account;
    this.delivery = new Delivery({ ...this.#knowledge, behaviour, changed: () => this.#change() });
  }

  #change() {
    this.changes.emit("change");
  }

  behave(misbehaviour: FailureModes): void {
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
    const { open: mostOpen, loggedIn: mostLoggedIn, ever: everOpened, logins } = this.#most;
    return { ...this.#count(), mostOpen, mostLoggedIn, everOpened, logins };
  }

  get unacknowledged(): number {
    return this.#account.devices.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0);
  }

  /** Whether a client is linked to the account. */
  knows(clientKey: string): boolean {
    return this.#account.find(clientKey) !== undefined;
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
    this.#most.logins += 1;
    const rejection = rejectionOf(this.behaviour, payload.userAgent?.appVersion?.tertiary ?? 0);
    const device = this.#account.find(connection.clientKey);
    if (rejection) connection.end(failureOf(rejection));
    else if (payload.devicePairingData) this.#pair(connection, payload);
    else if (device && device.id === payload.device) this.#admit(connection, device);
    else connection.end(failureOf({ code: 401 }));
    this.#change();
  }

  #pair(connection: Connection, payload: proto.ClientPayload) {
    const pairing = new Pairing(connection, this.#account, payload, this.behaviour.passkey);
    this.#pairings.set(connection, pairing);
    pairing.offer();
  }

  #admit(connection: Connection, device: Device) {
    connection.device = device;
    // counted before the older one is closed, so that tests can detect two simultaneous sessions
    this.#recount();
    if (this.behaviour.replaceOlder)
      for (const older of this.#live())
        if (older !== connection && older.device === device) older.end(closingOf(440));
    device.connection = connection;
    connection.send(element("success", { t: secondsNow(), lid: device.lid, location: "fake" }));
    const offline = element("offline", { count: String(device.catchUp(this.behaviour.cleanAcks)) });
    connection.send(element("ib", { from: serverJid }, [offline]));
  }

  async onStanza(connection: Connection, stanza: BinaryNode): Promise<void> {
    const { device } = connection;
    if (stanza.tag === "iq" && stanza.attrs.type === "result") this.#pairings.get(connection)?.accept(stanza);
    else if (stanza.tag === "iq") await this.#answer(connection, stanza);
    else if (stanza.tag === "message" && device) await this.delivery.deliver(connection, device, stanza);
    else if (stanza.tag === "receipt") this.#acknowledge(connection, stanza);
    else if (stanza.tag === "ack") this.#release(device, stanza);
    this.#change();
  }

  #release(device: Device | undefined, { attrs }: BinaryNode) {
    const { cleanAcks } = this.behaviour;
    if (attrs.class === "message" && ((cleanAcks && attrs.error) || spend(this.behaviour, "missAcks")))
      return;
    device?.acknowledge(attrs, cleanAcks);
  }

  #acknowledge(connection: Connection, { tag, attrs: { id = "", to = "", type } }: BinaryNode) {
    // a receipt for a message that was written to the account; a request to repeat it is followed by an ack
    if (type !== "retry" && !this.behaviour.cleanAcks) connection.device?.acknowledge({ id, type: "text" });
    connection.send(element("ack", { class: tag, id, from: to, ...(type && { type }) }));
  }

  /** Sends a stanza to every linked device. */
  notify(stanza: BinaryNode): void {
    for (const device of this.#account.devices) device.push(stanza);
  }

  /** Sends a phone's message to every linked device. @returns the message IDs. */
  async write(phone: Phone, content: proto.IMessage, envelope?: Envelope): Promise<string[]> {
    const written = this.#account.devices.map(async (device) => {
      const message = await phone.write(content, device, envelope);
      device.push(message, this.behaviour.cleanAcks);
      return message.attrs.id ?? "";
    });
    return Promise.all(written);
  }

  /** Notifies the linked devices of the limits for new chats. */
  announceLimits(): void {
    for (const [operation, json] of Object.entries(this.#knowledge.newChats.announcements()))
      for (const device of this.#account.devices) {
        const attrs = { id: randomBytes(4).toString("hex"), from: serverJid, type: "mex", t: secondsNow() };
        const update = element("update", { op_name: operation }, Buffer.from(json));
        device.push(element("notification", attrs, [update]));
      }
  }

  async #answer(connection: Connection, iq: BinaryNode) {
    const attrs = { from: serverJid, id: iq.attrs.id ?? "" };
    try {
      const content = await this.#contentOf(connection, iq);
      if (content) connection.send(element("iq", { ...attrs, type: "result" }, content));
    } catch (fault) {
      this.onFault(fault);
      const error = element("error", { code: "400", text: "bad-request" });
      connection.send(element("iq", { ...attrs, type: "error" }, [error]));
    }
    if (connection.device && getBinaryNodeChild(iq, "remove-companion-device"))
      this.#account.unlink(connection.device);
  }

  async #contentOf(connection: Connection, iq: BinaryNode): Promise<BinaryNode[] | undefined> {
    const [asked] = getAllBinaryNodeChildren(iq);
    if (asked?.tag === "link_code_companion_reg") {
      const pairing = this.#pairings.get(connection);
      if (asked.attrs.stage === "companion_hello") return pairing?.showCode(asked) ?? [];
      if (pairing && !pairing.finishCode(asked)) return [element("error", { code: "406" })];
      return [];
    }
    return connection.device ? answer(iq, connection.device, this.#knowledge, this.behaviour) : [];
  }

  /** Scans a QR code with the account's phone. @returns the linked device. */
  async scan(qr: string): Promise<Device> {
    const [ref = "", clientKey = "", identityKey = "", secret = ""] = qr.replace(/^[^#]*#/, "").split(",");
    const pairing = [...this.#pairings.values()].find((waiting) => waiting.owns(ref));
    if (!pairing) throw new Error("no connected client shows this QR code");
    return pairing.scan(clientKey, identityKey, secret, this.#account);
  }

  #showingCode() {
    return [...this.#pairings.values()].findLast(({ awaitsCode }) => awaitsCode);
  }

  /** Whether a client shows a pairing code. */
  get codeAwaited(): boolean {
    return this.#showingCode() !== undefined;
  }

  /** Enters a pairing code on the account's phone. @returns the linked device. */
  async enterCode(code: string): Promise<Device> {
    const pairing = this.#showingCode();
    if (!pairing) throw new Error("no connected client shows a pairing code");
    return pairing.enterCode(code);
  }

  /** Closes the connections of all linked devices; 401 also unlinks them. */
  disconnect(reason: Reason): void {
    for (const connection of this.#live()) {
      if (!connection.device) continue;
      if (reason === 401) this.#account.unlink(connection.device);
      if (reason === "drop") connection.drop();
      else connection.end(closingOf(reason));
    }
    this.#change();
  }

  dropAll(): void {
    for (const connection of this.#connections) connection.drop();
  }
}

/** Creates the message with which the account's phone sends history to a linked device, with the history in it. */
export const historySync = (history: proto.IHistorySync): proto.IMessage => {
  const { syncType = proto.HistorySync.HistorySyncType.RECENT, chunkOrder = 1, progress = 100 } = history;
  const encoded = proto.HistorySync.encode({ ...history, syncType, progress }).finish();
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: syncType as number,
        chunkOrder,
        progress,
        initialHistBootstrapInlinePayload: deflateSync(encoded),
      },
    },
  };
};
