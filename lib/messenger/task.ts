import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type postgres from "postgres";
import type { buildConnector } from "undici";
import type { Sealing } from "#lib/encryption.ts";
import { Fault } from "#lib/faults/fault.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { accept, acceptBatch } from "./accept/acceptance.ts";
import { openIntake } from "./accept/intake.ts";
import { openSource } from "./accept/source.ts";
import { openAuthState } from "./channels/whatsapp/auth-state.ts";
import { whatsAppChannel } from "./channels/whatsapp/channel.ts";
import { WhatsApp, type WhatsAppSettings } from "./channels/whatsapp/whatsapp.ts";
import { registerConsole } from "./console/console.ts";
import type { Credential } from "./console/credential.ts";
import { type Connection, readConsoleState } from "./console/state.ts";
import { reportFigures, SendTally } from "./figures.ts";
import { standForLeader } from "./leader.ts";
import { startMetrics } from "./metrics.ts";
import { isPaused, setPaused } from "./outbox/pause.ts";
import { payloadStore } from "./outbox/payload.ts";
import { runRetention } from "./outbox/retention.ts";
import { retryUntilDone } from "./outbox/retry.ts";
import { applyReceipt, findState } from "./outbox/state.ts";
import { loadHistory } from "./send/history.ts";
import { type Pace, Pacing } from "./send/pacing.ts";
import { runSender } from "./send/sender.ts";
import { Wakeup } from "./send/wakeup.ts";
import { buildServer, type Health } from "./server.ts";

export interface TaskOptions {
  /** Opens connections of the messenger's role. @param max at a time @param onClose is told when one is closed */
  readonly connect: (max: number, onClose?: () => void) => Promise<postgres.Sql>;
  readonly sealing: Sealing;
  readonly platform: WhatsAppSettings;
  readonly pace: Pace;
  readonly findTokens: (again: boolean) => Promise<readonly string[]>;
  readonly findCredentials: () => Promise<readonly Credential[]>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What downloads may reach; the public web where there is none. */
  readonly connector?: buildConnector.connector | undefined;
}

export interface Task {
  readonly url: string;
  /** The messenger, while this task drives it. */
  findWhatsApp(): WhatsApp | undefined;
  /**
   * Ends the messenger first, so that another task can take it; then takes messages until its address is
   * forgotten; then answers what has been asked and lets the database go.
   */
  stop(forgotten?: Promise<unknown>): Promise<void>;
}

const poolSize = 10;
/** Another connection took the messenger's place: whoever leads takes it back, but not in a quick exchange. */
const takeBackMs = 10_000;

/** What this task knows of itself while it runs. */
interface Self {
  whatsApp: WhatsApp | undefined;
}

/** Connects to WhatsApp and sends for one term: connects, sends, listens for receipts; ends with the signal. */
const leadTerm = (options: TaskOptions, sql: postgres.Sql, self: Self, wakeup: Wakeup) => {
  const { sealing, platform: settings, pace } = options;
  const payloads = payloadStore(sql, sealing);
  return async (epoch: number, signal: AbortSignal, metrics: ReturnType<typeof startMetrics>) => {
    const auth = await openAuthState({ sql, sealing, epoch });
    const platform = new WhatsApp({ settings, auth, findPayload: payloads.find });
    const pacing = new Pacing(pace, await loadHistory(sql));
    const tally = new SendTally();
    let connections = 0;
    platform.on("receipt", ({ id, kind }) => {
      // the platform tells it once
      void retryUntilDone(() => applyReceipt(sql, id, kind === "delivered" ? "DELIVERED" : "READ"), signal);
    });
    platform.on("state", ({ kind }) => {
      if (kind === "replaced") takeBack();
      if (kind !== "open") return;
      connections += 1;
      if (connections > 1) metrics.onReconnect();
      pacing.ramp(Date.now());
      wakeup.notify();
    });
    const takeBack = () =>
      setTimeout(takeBackMs, undefined, { signal }).then(
        () => platform.start(),
        () => {},
      );
    // the socket ends the moment the lead is lost, whatever else is still under way
    const end = () => void platform.stop();
    signal.addEventListener("abort", end, { once: true });
    self.whatsApp = platform;
    try {
      if (signal.aborted) return;
      platform.start();
      const channel = whatsAppChannel(platform, sql, payloads, signal);
      const onOutcome: typeof metrics.onOutcome = (outcome, ms) => {
        metrics.onOutcome(outcome, ms);
        tally.note(outcome);
      };
      const sender = { sql, epoch, channel, pacing, wakeup, signal, onOutcome };
      await Promise.all([
        runSender({ ...sender, seal: payloads.seal, open: payloads.open }),
        runRetention(sql, signal),
        reportFigures({ sql, platform, pacing, tally }, signal),
      ]);
    } finally {
      self.whatsApp = undefined;
      await platform.stop();
    }
  };
};

const checkDatabase = (sql: postgres.Sql): Promise<boolean> =>
  Promise.race([
    sql`select 1`.then(
      () => true,
      () => false,
    ),
    setTimeout(1_000, false, { ref: false }),
  ]);

const checkHealth = async (sql: postgres.Sql, self: Self): Promise<Health> => {
  const database = await checkDatabase(sql);
  return {
    database,
    leader: self.whatsApp !== undefined,
    platform: self.whatsApp?.state().kind ?? "another task's",
    paused: database && (await isPaused(sql).catch(() => false)),
  };
};

const listen = async (server: FastifyInstance, { host, port }: TaskOptions): Promise<string> => {
  await server.listen({ host, port });
  return `http://${host}:${(server.server.address() as AddressInfo).port}`;
};

/** The connection in the console's words. Who does not lead knows nothing of it. */
const describeConnection = ({ whatsApp }: Self): Connection => {
  const state = whatsApp?.state() ?? { kind: "closed" as const, since: new Date() };
  const since = state.since.toISOString();
  switch (state.kind) {
    case "unpaired":
      return { kind: "connecting", since };
    case "open":
      return { kind: "open", since, phone: maskPhone(state.as) };
    case "pairing":
      return { kind: "pairing", since, qr: state.qr, code: state.code };
    default:
      return { kind: state.kind, since };
  }
};

const requireLeader = ({ whatsApp }: Self): WhatsApp => {
  if (whatsApp) return whatsApp;
  const message = "Another task leads; use its console, or stop it.";
  throw new Fault({ status: 409, code: "not_leader", message });
};

const buildConsole = (
  server: FastifyInstance,
  { findCredentials }: TaskOptions,
  sql: postgres.Sql,
  self: Self,
) =>
  registerConsole(server, {
    findCredentials,
    readState: () =>
      readConsoleState(sql, { connection: describeConnection(self), leader: self.whatsApp !== undefined }),
    setPaused: (paused) => setPaused(sql, paused),
    requestPairingCode: async (phone) => requireLeader(self).requestPairingCode(phone),
    unlink: async () => requireLeader(self).unlink(),
  });

/** Starts the messenger: it accepts at once, and connects to WhatsApp while it leads. */
export const startTask = async (options: TaskOptions): Promise<Task> => {
  const { connect, connector, findTokens } = options;
  const sql = await connect(poolSize);
  const self: Self = { whatsApp: undefined };
  const wakeup = new Wakeup();
  const store = openIntake(sql);
  const metrics = startMetrics(sql, () => self.whatsApp !== undefined);
  const server = buildServer({
    findTokens,
    accept: (submission, inline) =>
      accept(
        {
          sql,
          store,
          notify: () => wakeup.notify(),
          fetchMedia: (wanted, bytes) => openSource(wanted, bytes, connector),
        },
        submission,
        inline,
      ),
    acceptBatch: (submissions) => acceptBatch({ sql, notify: () => wakeup.notify() }, submissions),
    findState: (id) => findState(sql, id),
    findConnection: () => ({ ...(self.whatsApp?.state() ?? { kind: "closed" }) }),
    checkHealth: () => checkHealth(sql, self),
    renderMetrics: () => metrics.render(),
  });
  buildConsole(server, options, sql, self);
  const ending = new AbortController();
  const lead = leadTerm(options, sql, self, wakeup);
  const candidacy = standForLeader({
    connect: (onClose) => connect(1, onClose),
    lead: (epoch, signal) => lead(epoch, signal, metrics),
    signal: ending.signal,
  });
  const stop = async (forgotten?: Promise<unknown>) => {
    ending.abort();
    await candidacy;
    await forgotten;
    await server.close();
    // nothing is asked any more; the driver would wait for a connection that the server ended
    await sql.end({ timeout: 1 });
  };
  try {
    return { url: await listen(server, options), findWhatsApp: () => self.whatsApp, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
