import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type postgres from "postgres";
import type { buildConnector } from "undici";
import { deadline } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { optIn, optOut } from "#lib/notification/opt-out.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { accept, acceptBatch } from "./accept/acceptance.ts";
import { openIntake } from "./accept/intake.ts";
import { Quota } from "./accept/quota.ts";
import { openSource } from "./accept/source.ts";
import type { Channel } from "./channels/channel.ts";
import { openAuthState } from "./channels/whatsapp/auth-state.ts";
import { newMessageId, whatsAppChannel } from "./channels/whatsapp/channel.ts";
import { openStanding } from "./channels/whatsapp/standing.ts";
import { WhatsApp, type WhatsAppSettings } from "./channels/whatsapp/whatsapp.ts";
import { openActs } from "./console/acts.ts";
import { registerConsole } from "./console/console.ts";
import { type IssuerSettings, openIssuer } from "./console/login/issuer.ts";
import type { LocalUser } from "./console/login/local-users.ts";
import { type Connection, readConsoleState } from "./console/state.ts";
import { reportFigures, SendCounter } from "./figures.ts";
import { runLeaderElection } from "./leader.ts";
import { type Metrics, startMetrics } from "./metrics.ts";
import type { Waiting } from "./outbox/message.ts";
import { findPause, setPaused } from "./outbox/pause.ts";
import { payloadStore } from "./outbox/payload.ts";
import { runRetention } from "./outbox/retention.ts";
import { retryUntilDone } from "./outbox/retry.ts";
import { applyReceipt, findState, markUndecryptable } from "./outbox/state.ts";
import { beginAccount, learnAnnouncement, watchLimits } from "./send/limits.ts";
import type { Pace } from "./send/pace.ts";
import { Pacing } from "./send/pacing.ts";
import { runSender } from "./send/sender.ts";
import { explainWaiting } from "./send/waiting.ts";
import { Wakeup } from "./send/wakeup.ts";
import { buildServer, type Health } from "./server.ts";

export interface TaskOptions {
  /** Opens a pool of connections as the messenger's role. @param onClose is called when one is closed. */
  readonly connect: (max: number, onClose?: () => void) => Promise<postgres.Sql>;
  readonly encryption: Encryption;
  readonly platform: WhatsAppSettings;
  readonly pace: Pace;
  /** Messages of one sender that may wait to be sent. */
  readonly maxWaiting: number;
  readonly findTokens: (refresh: boolean) => Promise<readonly string[]>;
  /** Lists the console's operators whose passwords it checks itself. */
  readonly findUsers: () => Promise<readonly LocalUser[]>;
  /** Where the console's operators log in instead. */
  readonly issuer?: IssuerSettings | undefined;
  /** Digests the numbers that opt out. */
  readonly findPepper: () => ReturnType<typeof digestTerm>;
  /** Names of the notification jobs. */
  readonly jobs: readonly string[];
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Which addresses downloads may reach; only the public web by default. */
  readonly connector?: buildConnector.connector | undefined;
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

const poolSize = 10;
/** The console reads with connections of its own, which the sender never waits for. */
const consolePoolSize = 2;
/** When another program replaces the WhatsApp connection, the leader waits before it reclaims it. */
const reclaimDelayMs = 10_000;

interface Leadership {
  whatsApp: WhatsApp | undefined;
  channel: Channel | undefined;
  pacing: Pacing | undefined;
}

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
  const { encryption, platform: settings, pace } = options;
  const payloads = payloadStore(sql, encryption);
  return async (epoch: number, signal: AbortSignal) => {
    const auth = await openAuthState({ sql, encryption, epoch });
    const standing = openStanding(sql);
    const whatsApp = new WhatsApp({ settings, auth, standing, findPayload: (id) => payloads.find(id) });
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

const isDatabaseUp = (sql: postgres.Sql): Promise<boolean> =>
  deadline(sql`select 1`, 1_000).then(
    () => true,
    () => false,
  );

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

/** Describes the connection for the console; unknown unless this task is the leader. */
const describeConnection = ({ whatsApp }: Leadership): Connection => {
  const state = whatsApp?.state() ?? { kind: "closed" as const, since: new Date() };
  const since = state.since.toISOString();
  switch (state.kind) {
    case "unpaired":
      return { kind: "connecting", since };
    case "open":
      return { kind: "open", since, phone: maskPhone(state.as) };
    case "pairing":
      return { kind: "pairing", since, qr: state.qr, code: state.code, passkey: state.passkey };
    case "stopped":
      return { kind: "stopped", since, answer: state.code };
    case "closed":
      return { kind: "closed", since, answer: state.code, retryAt: state.retryAt?.toISOString() };
    default:
      return { kind: state.kind, since };
  }
};

const requireLeader = ({ whatsApp }: Leadership): WhatsApp => {
  if (whatsApp) return whatsApp;
  const message = "Another task leads; use its console, or stop it.";
  throw new Fault({ status: 409, code: "not_leader", message });
};

const buildConsole = (
  server: FastifyInstance,
  { findUsers, issuer, findPepper, jobs }: TaskOptions,
  sql: postgres.Sql,
  consoleSql: postgres.Sql,
  leadership: Leadership,
) =>
  registerConsole(server, {
    findUsers,
    issuer: issuer && openIssuer(issuer),
    acts: openActs(sql),
    readState: (filter) => {
      const { whatsApp, channel, pacing } = leadership;
      const explain = async (reading: postgres.ISql, ids: readonly string[]) =>
        pacing && channel ? explainWaiting(reading, { pacing, channel }, ids) : new Map<string, Waiting>();
      const limits = pacing?.describe(steadyNow());
      const own = {
        connection: describeConnection(leadership),
        leader: whatsApp !== undefined,
        limits,
        jobs,
      };
      const sources = {
        own,
        account: pacing?.account,
        isDatabaseUp: () => isDatabaseUp(sql),
        explain,
        filter,
      };
      return readConsoleState(consoleSql, sources);
    },
    optOut: async (phone) => optOut(sql, await findPepper(), phone),
    optIn: async (phone) => optIn(sql, await findPepper(), phone),
    setPaused: (paused) => setPaused(sql, paused),
    requestPairingCode: async (phone) => requireLeader(leadership).requestPairingCode(phone),
    unlink: async () => requireLeader(leadership).unlink(),
    logIn: async () => requireLeader(leadership).logins.resume(),
    restoreLink: async () => requireLeader(leadership).restoreLink(),
    setVersion: async (version) => requireLeader(leadership).logins.setVersion(version),
  });

/** Starts the messenger: it accepts messages at once, and connects to WhatsApp while it is the leader. */
export const startTask = async (options: TaskOptions): Promise<Task> => {
  const { connect, connector, encryption, findTokens, host, port } = options;
  const [sql, consoleSql] = await Promise.all([connect(poolSize), connect(consolePoolSize)]);
  const leadership: Leadership = { whatsApp: undefined, channel: undefined, pacing: undefined };
  const wakeup = new Wakeup();
  const payloads = payloadStore(sql, encryption);
  const acceptance = {
    sql,
    newId: newMessageId,
    quota: new Quota(sql, options.maxWaiting),
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
    findState: (id) => findState(sql, id),
    findConnection: () => ({ ...(leadership.whatsApp?.state() ?? { kind: "closed" }) }),
    checkHealth: () => checkHealth(sql, leadership),
    renderMetrics: () => metrics.render(),
  });
  buildConsole(server, options, sql, consoleSql, leadership);
  const stopping = new AbortController();
  const election = runLeaderElection({
    connect: (onClose) => connect(1, onClose),
    lead: leadTerm(options, sql, leadership, wakeup, metrics),
    signal: stopping.signal,
  });
  const stop = async (unresolved?: Promise<unknown>) => {
    stopping.abort();
    await election;
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
