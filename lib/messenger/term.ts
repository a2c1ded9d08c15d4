import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { isOptedOut } from "#lib/notification/opt-out.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { type Account, recordNumber } from "./account/account.ts";
import type { Channel } from "./channels/channel.ts";
import { newMessageId, whatsAppChannel } from "./channels/whatsapp/channel.ts";
import { openAuthState } from "./channels/whatsapp/link/auth-state.ts";
import type { ConnectionState } from "./channels/whatsapp/link/connection-state.ts";
import { openStanding } from "./channels/whatsapp/link/standing.ts";
import type { WhatsAppSettings } from "./channels/whatsapp/settings.ts";
import { WhatsApp } from "./channels/whatsapp/whatsapp.ts";
import { reportFigures, SendCounter } from "./figures.ts";
import type { Metrics } from "./metrics.ts";
import { payloadStore } from "./outbox/payload.ts";
import { retryUntilDone } from "./outbox/retry.ts";
import { applyReceipt, markUndecryptable } from "./outbox/state.ts";
import { readReplies } from "./reply/reply.ts";
import { beginAccount, learnAnnouncement, watchLimits } from "./send/limits.ts";
import type { Pace } from "./send/pace.ts";
import { Pacing } from "./send/pacing.ts";
import { runSender } from "./send/sender.ts";
import { Wakeup } from "./send/wakeup.ts";

/** What this task leads an account with. */
export interface Leadership {
  readonly account: Account;
  readonly whatsApp: WhatsApp;
  readonly channel: Channel;
  readonly pacing: Pacing;
  /** Wakes its sender. */
  readonly wakeup: Wakeup;
}

export interface TermOptions {
  readonly sql: postgres.Sql;
  readonly encryption: Encryption;
  readonly platform: WhatsAppSettings;
  readonly pace: Pace;
  readonly findPepper: () => ReturnType<typeof digestTerm>;
  readonly metrics: Metrics;
  /** Of the accounts that this task leads, by id. */
  readonly leaderships: Map<number, Leadership>;
  /** Wakes the senders of all of them. */
  readonly notify: () => void;
}

/** When another program replaces the WhatsApp connection, the leader waits before it reclaims it. */
const reclaimDelayMs = 10_000;

/** Of a value that the database rejects: its log is all that is left of it. */
const logged = () => {};

/**
 * The work of an account's leader: connects to WhatsApp, sends, handles receipts, until the signal is aborted. Nothing of it
 * is shared with another account but the database.
 */
export const leadTerm = (options: TermOptions) => {
  const { sql, encryption, platform: settings, pace, findPepper, metrics, leaderships, notify } = options;
  const payloads = payloadStore(sql, encryption);
  return async (account: Account, epoch: number, signal: AbortSignal): Promise<void> => {
    const auth = await openAuthState({ sql, encryption, account: account.id, epoch });
    const standing = openStanding(sql, account.id);
    const onInbound = readReplies({
      ...{ sql, findPepper, newId: newMessageId, signal, notify },
      onReaction: metrics.onReaction,
    });
    const findPayload = (id: string) => payloads.find(id);
    const whatsApp = new WhatsApp({ settings, auth, standing, findPayload, onInbound });
    const pacing = new Pacing(pace);
    const channel = whatsAppChannel(whatsApp, sql, payloads, signal);
    const limits = { sql, channel, pacing, signal };
    const counter = new SendCounter();
    const wakeup = new Wakeup();
    let connections = 0;
    whatsApp.on("receipt", ({ id, kind }) => {
      // each receipt arrives only once
      void retryUntilDone(async () => {
        if (kind !== "undecryptable")
          await applyReceipt(sql, id, kind === "delivered" ? "DELIVERED" : "READ");
        else if (await markUndecryptable(sql, id)) metrics.onUndecryptable();
      }, signal).catch(logged);
    });
    whatsApp.on("limits", (announced) => void learnAnnouncement(limits, announced).catch(logged));
    whatsApp.on("state", (state) => {
      if (state.kind === "replaced") reclaim();
      if (state.kind !== "open") return;
      connections += 1;
      if (connections > 1) metrics.onReconnect();
      pacing.startRamp(steadyNow());
      // nothing is sent from another number at the pace of the former
      if (pacing.number !== state.as) pacing.end();
      void begin(state).catch(logged);
    });
    const begin = async (state: ConnectionState & { readonly kind: "open" }) => {
      let isOwn = false;
      await retryUntilDone(async () => {
        isOwn = await recordNumber(sql, account.id, state.as);
      }, signal);
      if (isOwn) await beginAccount(limits, state.as, () => whatsApp.state() === state, wakeup);
      else
        log.error("the number is linked to another account; unlink one of them", { account: account.name });
    };
    const reclaim = () =>
      setTimeout(reclaimDelayMs, undefined, { signal }).then(
        () => whatsApp.start(),
        () => {},
      );
    // closes the socket as soon as the lead is lost, whatever is in progress
    const end = () => void whatsApp.stop();
    signal.addEventListener("abort", end, { once: true });
    leaderships.set(account.id, { account, whatsApp, channel, pacing, wakeup });
    try {
      if (signal.aborted) return;
      whatsApp.start();
      const onOutcome: Metrics["onOutcome"] = (outcome, ms) => {
        metrics.onOutcome(outcome, ms);
        counter.count(outcome);
      };
      const sender = { sql, account: account.id, epoch, channel, pacing, wakeup, signal, onOutcome };
      await Promise.all([
        runSender({
          ...sender,
          encrypt: payloads.encrypt,
          decrypt: payloads.decrypt,
          openText: payloads.openText,
          isOptedOut: async (phone) => isOptedOut(sql, await findPepper(), phone),
        }),
        watchLimits(limits),
        reportFigures({ sql, account, whatsApp, pacing, counter }, signal),
      ]);
    } finally {
      leaderships.delete(account.id);
      await whatsApp.stop();
    }
  };
};
