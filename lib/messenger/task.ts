import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { buildConnector } from "undici";
import { isDatabaseUp } from "#lib/db/probe.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { isOptedOut } from "#lib/notification/opt-out.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { accept, acceptBatch } from "./accept/acceptance.ts";
import { openIntake } from "./accept/intake.ts";
import { Quota } from "./accept/quota.ts";
import { openSource } from "./accept/source.ts";
import { runCallbacks } from "./callback/callbacks.ts";
import type { Schedule } from "./callback/event.ts";
import { newMessageId, whatsAppChannel } from "./channels/whatsapp/channel.ts";
import { openAuthState } from "./channels/whatsapp/link/auth-state.ts";
import { openStanding } from "./channels/whatsapp/link/standing.ts";
import type { WhatsAppSettings } from "./channels/whatsapp/settings.ts";
import { WhatsApp } from "./channels/whatsapp/whatsapp.ts";
import { reportFigures, SendCounter } from "./figures.ts";
import { runLeaderElection } from "./leader.ts";
import { type Metrics, startMetrics } from "./metrics.ts";
import { buildConsole, type Leadership, type OperatorConsoleOptions } from "./operator-console.ts";
import { cancel, cancelRun } from "./outbox/cancel.ts";
import { listMessages } from "./outbox/list.ts";
import { findPause } from "./outbox/pause.ts";
import { payloadStore } from "./outbox/payload.ts";
import { runRetention } from "./outbox/retention.ts";
import { retryUntilDone } from "./outbox/retry.ts";
import { applyReceipt, findState, markUndecryptable } from "./outbox/state.ts";
import { messengerPools } from "./pools.ts";
import { readReplies } from "./reply/reply.ts";
import { beginAccount, learnAnnouncement, watchLimits } from "./send/limits.ts";
import type { Pace } from "./send/pace.ts";
import { Pacing } from "./send/pacing.ts";
import { planMessages } from "./send/plan.ts";
import { runSender } from "./send/sender.ts";
import { Wakeup } from "./send/wakeup.ts";
import { buildServer, type Health } from "./server.ts";

export interface TaskOptions extends OperatorConsoleOptions {
  /** Opens a pool of connections as the messenger's role. @param onClose is called when one is closed. */
  readonly connect: (max: number, onClose?: () => void) => Promise<postgres.Sql>;
  readonly encryption: Encryption;
  readonly platform: WhatsAppSettings;
  readonly pace: Pace;
  /** Messages of one sender that may wait to be sent. */
  readonly maxWaiting: number;
  readonly findTokens: (refresh: boolean) => Promise<readonly string[]>;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Which addresses downloads and callbacks may reach; only the public web by default. */
  readonly connector?: buildConnector.connector | undefined;
  /** Of callbacks. */
  readonly schedule?: Schedule | undefined;
}

export interface Task {
  readonly url: string;
  /** The WhatsApp connection, while this task is the leader. */
  findWhatsApp(): WhatsApp | undefined;
  /**
   * Closes the WhatsApp connection first, so that another task can lead; accepts messages until clients no
   * longer resolve its address; then answers the requests in progress and disconnects from the database.
   */
  stop(unresolved?: Promise<unknown>): Promise<void>;
}

/** When another program replaces the WhatsApp connection, the leader waits before it reclaims it. */
const reclaimDelayMs = 10_000;

/** Of a value that the database rejects: its log is all that is left of it. */
const logged = () => {};

/** Creates the work of a term: connects to WhatsApp, sends, handles receipts, until the signal is aborted. */
const leadTerm = (
  options: TaskOptions,
  sql: postgres.Sql,
  leadership: Leadership,
  wakeup: Wakeup,
  metrics: Metrics,
) => {
  const { encryption, platform: settings, pace, findPepper } = options;
  const payloads = payloadStore(sql, encryption);
  return async (epoch: number, signal: AbortSignal) => {
    const auth = await openAuthState({ sql, encryption, epoch });
    const standing = openStanding(sql);
    const onInbound = readReplies({
      ...{ sql, findPepper, newId: newMessageId, signal },
      notify: () => wakeup.notify(),
      onReaction: metrics.onReaction,
    });
    const findPayload = (id: string) => payloads.find(id);
    const whatsApp = new WhatsApp({ settings, auth, standing, findPayload, onInbound });
    const pacing = new Pacing(pace);
    const channel = whatsAppChannel(whatsApp, sql, payloads, signal);
    const limits = { sql, channel, pacing, signal };
    const counter = new SendCounter();
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
      void beginAccount(limits, state.as, () => whatsApp.state() === state, wakeup).catch(logged);
    });
    const reclaim = () =>
      setTimeout(reclaimDelayMs, undefined, { signal }).then(
        () => whatsApp.start(),
        () => {},
      );
    // closes the socket as soon as the lead is lost, whatever is in progress
    const end = () => void whatsApp.stop();
    signal.addEventListener("abort", end, { once: true });
    Object.assign(leadership, { whatsApp, channel, pacing });
    try {
      if (signal.aborted) return;
      whatsApp.start();
      const onOutcome: Metrics["onOutcome"] = (outcome, ms) => {
        metrics.onOutcome(outcome, ms);
        counter.count(outcome);
      };
      const sender = { sql, epoch, channel, pacing, wakeup, signal, onOutcome };
      await Promise.all([
        runSender({
          ...sender,
          encrypt: payloads.encrypt,
          decrypt: payloads.decrypt,
          openText: payloads.openText,
          isOptedOut: async (phone) => isOptedOut(sql, await findPepper(), phone),
        }),
        runRetention(sql, signal),
        watchLimits(limits),
        reportFigures({ sql, whatsApp, pacing, counter }, signal),
      ]);
    } finally {
      Object.assign(leadership, { whatsApp: undefined, channel: undefined, pacing: undefined });
      await whatsApp.stop();
    }
  };
};

const checkHealth = async (sql: postgres.Sql, leadership: Leadership): Promise<Health> => {
  const database = await isDatabaseUp(sql);
  return {
    database,
    leader: leadership.whatsApp !== undefined,
    platform: leadership.whatsApp?.state().kind ?? "not leader",
    paused:
      database &&
      (await findPause(sql).then(
        ({ paused }) => paused,
        () => false,
      )),
  };
};

/** Starts the messenger: it accepts messages at once, and connects to WhatsApp while it is the leader. */
export const startTask = async (options: TaskOptions): Promise<Task> => {
  const { connect, connector, encryption, findTokens, host, port } = options;
  const [sql, consoleSql] = await Promise.all([
    connect(messengerPools.sender),
    connect(messengerPools.console),
  ]);
  const leadership: Leadership = { whatsApp: undefined, channel: undefined, pacing: undefined };
  const wakeup = new Wakeup();
  const payloads = payloadStore(sql, encryption);
  const acceptance = {
    sql,
    newId: newMessageId,
    quota: new Quota(sql, options.maxWaiting),
    isOptedOut: async (phone: string) => isOptedOut(sql, await options.findPepper(), phone),
    seal: payloads.sealText,
    notify: () => wakeup.notify(),
  };
  const store = openIntake(sql);
  const metrics = startMetrics(
    sql,
    () => leadership.whatsApp !== undefined,
    () => leadership.pacing?.isLimited(steadyNow()) ?? false,
  );
  const server = buildServer({
    findTokens,
    accept: (submission, inline, signal) =>
      accept(
        { ...acceptance, store, fetchMedia: (wanted, bytes) => openSource(wanted, bytes, connector) },
        submission,
        inline,
        signal,
      ),
    acceptBatch: (submissions) => acceptBatch(acceptance, submissions),
    findState: (id, sender) => findState(sql, id, sender),
    // a list of many messages takes time, for which the sender does not wait
    listMessages: (query) => listMessages(consoleSql, encryption, query),
    cancel: (id, sender) => cancel(sql, id, sender),
    plan: (phones) => planMessages(consoleSql, options.pace, leadership.pacing?.account, phones),
    cancelRun: (name) => cancelRun(sql, name),
    findConnection: () => ({ ...(leadership.whatsApp?.state() ?? { kind: "closed" }) }),
    checkHealth: () => checkHealth(sql, leadership),
    renderMetrics: () => metrics.render(),
  });
  buildConsole(server, options, sql, consoleSql, leadership);
  const stopping = new AbortController();
  const election = runLeaderElection({
    connect: (onClose) => connect(messengerPools.election, onClose),
    lead: leadTerm(options, sql, leadership, wakeup, metrics),
    signal: stopping.signal,
  });
  const { onCallback } = metrics;
  const calling = runCallbacks({ ...options, sql, onCallback, signal: stopping.signal });
  const stop = async (unresolved?: Promise<unknown>) => {
    stopping.abort();
    await Promise.all([election, calling]);
    await unresolved;
    await server.close();
    // no queries are left; without a timeout the driver waits for connections that the server has closed
    await Promise.all([sql.end({ timeout: 1 }), consoleSql.end({ timeout: 1 })]);
  };
  try {
    return { url: await server.listen({ host, port }), findWhatsApp: () => leadership.whatsApp, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
