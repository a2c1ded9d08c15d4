import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { buildConnector } from "undici";
import { guardConnector, notMetadata } from "#lib/channels/address-guard.ts";
import type { Channel, ConnectionState, Inbound, Limits } from "#lib/channels/channel.ts";
import { cloudApiChannel } from "#lib/channels/cloud-api/cloud-api-channel.ts";
import type { CloudApiSettings } from "#lib/channels/cloud-api/settings.ts";
import { type RequestChannel, type RequestChannelOptions, RequestLink } from "#lib/channels/request-link.ts";
import type { SmsSettings } from "#lib/channels/sms/settings.ts";
import { smsChannel } from "#lib/channels/sms/sms-channel.ts";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { openLoginHolds } from "#lib/channels/whatsapp/link/login-holds.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import { whatsAppChannel } from "#lib/channels/whatsapp/whatsapp-channel.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import type { Account } from "./account/account.ts";
import type { Counts } from "./metrics.ts";
import { payloadStore } from "./outbox/payload.ts";
import { applyReceipt, markUndecryptable } from "./outbox/receipt.ts";
import { retryUntilDone } from "./outbox/retry.ts";

/** What connects an account to its platform. */
export interface Link {
  state(): ConnectionState;
  /** @returns a function that ends the listening. */
  on(event: "state", listener: (state: ConnectionState) => void): () => void;
  stop(): Promise<void>;
}

export interface OpenChannel {
  readonly channel: Channel;
  readonly link: Link;
  /** Of an account of WhatsApp. */
  readonly whatsApp?: WhatsApp;
  start(): void;
}

type SettingsOf = { readonly "cloud-api": CloudApiSettings; readonly sms: SmsSettings };

export interface ChannelOptions {
  readonly sql: postgres.Sql;
  readonly encryption: Encryption;
  readonly platform: WhatsAppSettings;
  /** Reads the settings of an account that is reached by requests, cached. @throws without valid ones. */
  readonly findSettings: <C extends keyof SettingsOf>(account: string, channel: C) => Promise<SettingsOf[C]>;
  /** Which addresses such an account may reach; by default all but those of metadata services: an operator has chosen it. */
  readonly connector?: buildConnector.connector | undefined;
}

interface Term {
  readonly account: Account;
  readonly epoch: number;
  readonly signal: AbortSignal;
  readonly counts: Counts;
  readonly onInbound: (inbound: Inbound) => Promise<void>;
  readonly onLimits: (announced: Limits) => void;
}

/** Of a value that the database rejects: its log is all that is left of it. */
const logged = () => {};

const openWhatsApp = async (options: ChannelOptions, term: Term): Promise<OpenChannel> => {
  const { sql, encryption, platform: settings } = options;
  const { account, epoch, signal, counts, onInbound, onLimits } = term;
  const payloads = payloadStore(sql, encryption);
  const auth = await openAuthState({ sql, encryption, account: account.id, epoch });
  const loginHolds = openLoginHolds(sql, account.id);
  const findPayload = (id: string) => payloads.findToRepeat(id);
  const whatsApp = new WhatsApp({ settings, auth, loginHolds, findPayload, onInbound });
  whatsApp.on("receipt", ({ id, kind }) => {
    // each receipt arrives only once
    void retryUntilDone(async () => {
      if (kind !== "undecryptable")
        await applyReceipt(sql, account.id, id, kind === "delivered" ? "DELIVERED" : "READ");
      else if (await markUndecryptable(sql, id)) counts.count("undecryptable");
    }, signal).catch(logged);
  });
  whatsApp.on("limits", onLimits);
  const reclaim = () =>
    setTimeout(settings.reclaimMs ?? 10_000, undefined, { signal }).then(
      () => whatsApp.start(),
      () => {},
    );
  whatsApp.on("state", ({ kind }) => {
    if (kind === "replaced") void reclaim();
  });
  const channel = whatsAppChannel(whatsApp, sql, payloads, signal);
  return { channel, link: whatsApp, whatsApp, start: () => whatsApp.start() };
};

/** Opens a channel that is reached by requests. */
const openRequests =
  <C extends keyof SettingsOf>(
    name: C,
    open: (options: RequestChannelOptions<SettingsOf[C]>) => RequestChannel,
  ) =>
  async (options: ChannelOptions, { account, signal }: Term): Promise<OpenChannel> => {
    const { sql, connector = guardConnector({ policy: notMetadata }) } = options;
    const link = new RequestLink(openLoginHolds(sql, account.id));
    const findSettings = () => options.findSettings(account.name, name);
    const { channel, check } = open({ sql, link, signal, connector, findSettings });
    return { channel, link, start: () => link.start(check) };
  };

const openers: Readonly<Record<ChannelName, typeof openWhatsApp>> = {
  whatsapp: openWhatsApp,
  "cloud-api": openRequests("cloud-api", cloudApiChannel),
  sms: openRequests("sms", smsChannel),
};

/** Opens the channel of an account; it does not connect yet. */
export const openChannel = (options: ChannelOptions, term: Term): Promise<OpenChannel> =>
  openers[term.account.channel](options, term);
