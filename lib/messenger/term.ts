import type postgres from "postgres";
import type { Channel, Inbound } from "#lib/channels/channel.ts";
import type { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { channels } from "#lib/messaging/channel.ts";
import { isOptedOut } from "#lib/notification/opt-out.ts";
import { type Account, recordConnection, recordNumber } from "./account/account.ts";
import { Counts, reportMetrics } from "./metrics.ts";
import { type ChannelOptions, type Link, openChannel } from "./open-channel.ts";
import type { OpenFrom } from "./outbox/next.ts";
import { payloadStore } from "./outbox/payload.ts";
import { retryUntilDone } from "./outbox/retry.ts";
import { Wakeup } from "./outbox/wakeup.ts";
import type { Pepper } from "./reply/reply.ts";
import { beginAccount, learnAnnouncement, watchLimits } from "./send/limits.ts";
import { type Pace, paceOf } from "./send/pace.ts";
import { Pacing } from "./send/pacing.ts";
import { runSender } from "./send/sender.ts";

/** The task watches the queues for all its senders; this is for what it misses. */
const unwokenMs = 10_000;

/** What this task leads an account with. */
export interface Leadership {
  readonly account: Account;
  readonly link: Link;
  /** Of an account of WhatsApp. */
  readonly whatsApp: WhatsApp | undefined;
  readonly channel: Channel;
  readonly pacing: Pacing;
  readonly counts: Counts;
  /** Wakes its sender. */
  readonly wakeup: Wakeup;
}

export interface TermOptions extends ChannelOptions {
  readonly sql: postgres.Sql;
  /** Of WhatsApp. */
  readonly pace: Pace;
  readonly findPepper: () => Promise<Pepper>;
  /** Handles what persons send to the city's numbers. */
  readonly onInbound: (inbound: Inbound, signal: AbortSignal) => Promise<void>;
  readonly openFrom: OpenFrom;
  /** Of the accounts that this task leads, by id. */
  readonly leaderships: Map<number, Leadership>;
}

const numberOf = ({ name, channel }: Account, as: string): string =>
  channels[channel].hasNumber ? as : `${channel}:${name}`;

/** Of a value that the database rejects: its log is all that is left of it. */
const logged = () => {};

/**
 * The work of an account's leader: connects to its platform, sends, handles receipts, until the signal is aborted. Nothing of it
 * is shared with another account but the database.
 */
export const leadTerm = (options: TermOptions) => {
  const { sql, encryption, findPepper, leaderships } = options;
  const payloads = payloadStore(sql, encryption);
  return async (account: Account, epoch: number, signal: AbortSignal): Promise<void> => {
    const pacing = new Pacing(paceOf(options.pace, account.channel));
    const counts = new Counts();
    const { channel, link, whatsApp, start } = await openChannel(options, {
      ...{ account, epoch, signal, counts },
      onInbound: (inbound) => options.onInbound(inbound, signal),
      onLimits: (announced) => void learnAnnouncement(limits, announced).catch(logged),
    });
    const limits = { sql, channel, pacing, signal };
    const wakeup = new Wakeup();
    let connections = 0;
    link.on("state", (state) => {
      // the state at the time of the write, which may wait for the database
      const record = () => recordConnection(sql, account.id, link.state().kind === "open");
      void retryUntilDone(record, signal).catch(logged);
      if (state.kind !== "open") return;
      connections += 1;
      if (connections > 1) counts.count("reconnects");
      pacing.startRamp(steadyNow());
      // nothing is sent from another number at the pace of the former
      const number = numberOf(account, state.as);
      if (pacing.number !== number) pacing.end();
      void begin(number, () => link.state() === state).catch(logged);
    });
    const begin = async (number: string, isCurrent: () => boolean) => {
      let isOwn = false;
      await retryUntilDone(async () => {
        isOwn = await recordNumber(sql, account.id, number);
      }, signal);
      if (isOwn) await beginAccount(limits, number, isCurrent, wakeup);
      else
        log.error("the number is linked to another account; unlink one of them", { account: account.name });
    };
    // ends the connection as soon as the lead is lost, whatever is in progress
    const end = () => void link.stop();
    signal.addEventListener("abort", end, { once: true });
    leaderships.set(account.id, { account, link, whatsApp, channel, pacing, counts, wakeup });
    try {
      if (signal.aborted) return;
      start();
      const onOutcome = (outcome: "sent" | "failed" | "retried") => counts.count(outcome);
      const sender = { sql, account: account.id, epoch, channel, pacing, wakeup, signal, onOutcome };
      await Promise.all([
        runSender({
          ...sender,
          openFrom: options.openFrom,
          unwokenMs,
          encrypt: payloads.encrypt,
          decrypt: payloads.decrypt,
          openText: payloads.openText,
          isOptedOut: async (phone) => isOptedOut(sql, await findPepper(), phone),
        }),
        watchLimits(limits),
        reportMetrics({ sql, account, link, pacing, counts }, signal),
      ]);
    } finally {
      leaderships.delete(account.id);
      await link.stop();
    }
  };
};
