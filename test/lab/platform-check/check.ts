import type postgres from "postgres";
import sharp from "sharp";
import type { ConnectionState } from "#lib/channels/channel.ts";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { openLoginHolds } from "#lib/channels/whatsapp/link/login-holds.ts";
import type { Composition } from "#lib/channels/whatsapp/message/composition.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import { newMessageId } from "#lib/channels/whatsapp/whatsapp-channel.ts";
import { untilAborted } from "#lib/deadline.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { watchOwnNumber } from "./own-number.ts";
import { type Row, StepFailure, startRows } from "./rows.ts";

export interface CheckOptions {
  /** An empty messenger database for the keys. */
  readonly sql: postgres.Sql;
  readonly settings: WhatsAppSettings;
  /** The operator's own number, not the linked account's. Nothing is sent to any other. */
  readonly number: string;
  /** Links by pairing code the account of this number; undefined: by QR code. */
  readonly account?: string | undefined;
  /** For each thing that the operator does, and for the receipts. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onQr: (qr: string) => void;
  readonly onPairingCode: (code: string) => void;
  /** The operator must now write a message from the own number to the linked account. */
  readonly onWrite: () => void;
}

const describeState = (state: ConnectionState): string =>
  (state.kind === "closed" || state.kind === "stopped") && state.code !== undefined
    ? `${state.kind} with code ${state.code}`
    : state.kind;

/** @throws StepFailure when the limit is reached first. */
const within = <T>(promise: Promise<T>, limit: AbortSignal, explain: () => string): Promise<T> =>
  untilAborted(promise, limit, () => new StepFailure(`${explain()} before the time limit`));

const limitOf = ({ signal, timeoutMs }: CheckOptions): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);

/** Connects and shows how to link, until the account is open. @returns its number. */
const link = async (whatsApp: WhatsApp, options: CheckOptions): Promise<string> => {
  const { promise: open, resolve } = Promise.withResolvers<string>();
  const shown = new Set<string>();
  let lastClosed: string | undefined;
  const off = whatsApp.on("state", (state) => {
    if (state.kind === "open") resolve(state.as);
    if (state.kind === "closed" || state.kind === "stopped") lastClosed = describeState(state);
    if (state.kind !== "pairing" || shown.has(state.qr)) return;
    shown.add(state.qr);
    if (options.account === undefined) options.onQr(state.qr);
    else if (shown.size === 1)
      whatsApp.requestPairingCode(options.account).then(options.onPairingCode, () => shown.clear());
  });
  whatsApp.start();
  const explain = () => `not linked, ${lastClosed ?? describeState(whatsApp.state())},`;
  return within(open, limitOf(options), explain).finally(off);
};

/**
 * Removes the device from the account, which takes an open connection.
 *
 * @throws StepFailure if WhatsApp does not confirm it.
 */
const unlink = async (whatsApp: WhatsApp, limit: AbortSignal): Promise<void> => {
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const look = ({ kind }: ConnectionState) => kind === "open" && resolve();
  const off = whatsApp.on("state", look);
  look(whatsApp.state());
  // without a connection the keys are deleted nevertheless
  await untilAborted(open, limit).catch(() => {});
  off();
  if (!(await whatsApp.unlink()))
    throw new StepFailure("not confirmed: remove the device on the phone, under Linked devices");
};

const picture = () =>
  sharp({ create: { width: 320, height: 240, channels: 3, background: "#0a7" } })
    .jpeg()
    .toBuffer();

const mediaOf = (
  bytes: Buffer,
  contentType: string,
  fileName: string,
): NonNullable<Composition["media"]> => ({
  async *open() {
    yield bytes;
  },
  contentType,
  fileName,
  ...{ sizeBytes: bytes.length },
});

/** One message of each kind. */
const listMessages = async (): Promise<readonly Omit<Composition, "id" | "phone">[]> => [
  { kind: "text", text: "*Platform check*: this text can be deleted" },
  { kind: "image", text: "Platform check", media: mediaOf(await picture(), "image/jpeg", "check.jpg") },
  { kind: "file", media: mediaOf(Buffer.from("Platform check\n"), "text/plain", "check.txt") },
];

/** Resolves with the first receipt for each message. */
const collectReceipts = (whatsApp: WhatsApp) => {
  const receipts = new Map<string, PromiseWithResolvers<string>>();
  const entryOf = (id: string) => {
    const entry = receipts.get(id) ?? Promise.withResolvers<string>();
    receipts.set(id, entry);
    return entry;
  };
  whatsApp.on("receipt", ({ id, kind }) => entryOf(id).resolve(kind));
  return { first: (id: string) => entryOf(id).promise };
};

/**
 * Links an account, sends one message of each kind to the operator's own number, and unlinks.
 *
 * Sends nothing until a message from that number has arrived, so that a wrong number gets nothing, and because WhatsApp
 * restricts accounts that write first.
 */
export const checkPlatform = async (options: CheckOptions): Promise<readonly Row[]> => {
  const { sql, settings, number, signal } = options;
  const stored = await openAuthState({
    sql,
    encryption: encryptionWith(secretTable["messenger-key"].mint()),
  });
  const own = watchOwnNumber(stored, number);
  const payloads = new Map<string, Uint8Array>();
  let repeats = 0;
  const findPayload = async (id: string) => {
    repeats += 1;
    return payloads.get(id);
  };
  const whatsApp = new WhatsApp({ settings, auth: own.auth, loginHolds: openLoginHolds(sql), findPayload });
  const receipts = collectReceipts(whatsApp);
  const { rows, run } = startRows();

  const account = await run(["Link", "the phone links this machine"], true, async () => ({
    value: await link(whatsApp, options),
    seen: "linked",
  }));
  const proven = await run(["Own number", "a message from it arrives"], account, async (as) => {
    if (as === number) throw new StepFailure("it is the linked account; give the number of another phone");
    options.onWrite();
    await within(own.proven, limitOf(options), () => "nothing is sent: no message from it");
    return { seen: "arrived and decrypted", value: number };
  });
  const sent: { readonly kind: string; readonly id: string | undefined }[] = [];
  for (const message of await listMessages()) {
    const id = await run([`Send ${message.kind}`, "WhatsApp accepts it"], proven, async (phone) => {
      const composition = { ...message, id: newMessageId(), phone };
      const payload = await whatsApp.compose(composition, signal);
      payloads.set(composition.id, payload);
      const answer = await whatsApp.send(payload, signal);
      if (answer.outcome === "rejected") throw new StepFailure(`rejected with code ${answer.code}`);
      return { seen: "accepted", value: composition.id };
    });
    sent.push({ kind: message.kind, id });
  }
  const limit = limitOf(options);
  for (const { kind, id } of sent)
    await run([`Receipt for ${kind}`, "the phone has it"], id, async (known) => {
      const seen = await within(receipts.first(known), limit, () => "none");
      return { seen, value: seen };
    });
  await run(["Readable at once", "the phone asks for no message again"], proven, async () => {
    if (repeats > 0) throw new StepFailure(`asked ${repeats} times`);
    return { seen: "asked for none", value: true };
  });
  const isOnLid = (has: boolean) => ({ seen: has ? "on a LID" : "on its number", value: has });
  await run(["Account", "on a LID or on its number"], account, async () => isOnLid(own.accountHasLid()));
  await run(["Contact", "on a LID or on its number"], proven, async () => isOnLid(await own.hasLid()));
  // also after a time limit that was reached between the scan and the connection
  await run(["Unlink", "the link is gone"], stored.isPaired() || undefined, async () => {
    // without the caller's signal: an interrupted check unlinks too
    await unlink(whatsApp, AbortSignal.timeout(options.timeoutMs));
    return { seen: "unlinked", value: true };
  });
  await whatsApp.stop();
  return rows;
};
