import type postgres from "postgres";
import type { buildConnector } from "undici";
import type { Inbound } from "#lib/channels/channel.ts";
import { convertImage } from "#lib/channels/compress-image.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { newMessageId } from "#lib/channels/whatsapp/whatsapp-channel.ts";
import { isDatabaseUp } from "#lib/db/outage.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { isOptedOut } from "#lib/notification/opt-out.ts";
import { accept, acceptBatch } from "./accept/acceptance.ts";
import { openIntake } from "./accept/intake.ts";
import { Quota } from "./accept/quota.ts";
import { openSource } from "./accept/source.ts";
import { firstAccount, runRelease } from "./account/account.ts";
import { openBulkDesk } from "./bulk-desk.ts";
import { runCallbacks } from "./callback/callbacks.ts";
import type { Schedule } from "./callback/event.ts";
import { applyEvents } from "./channel-events.ts";
import { runLeaderElection } from "./leader.ts";
import type { ChannelOptions } from "./open-channel.ts";
import { buildConsole, type OperatorConsoleOptions } from "./operator-console.ts";
import { cancel } from "./outbox/cancel.ts";
import { findPause } from "./outbox/depth.ts";
import { listMessages } from "./outbox/list.ts";
import { OpenFrom } from "./outbox/next.ts";
import { payloadStore } from "./outbox/payload.ts";
import { runRetention } from "./outbox/retention.ts";
import { findState } from "./outbox/state.ts";
import { Wakeup } from "./outbox/wakeup.ts";
import { messengerPools } from "./pools.ts";
import { readReplies } from "./reply/reply.ts";
import type { Pace } from "./send/pace.ts";
import { planMessages } from "./send/plan.ts";
import { addWaitReasons } from "./send/wait-reason.ts";
import { runWatch } from "./send/watch.ts";
import { buildServer, type Health } from "./server.ts";
import { type Leadership, leadTerm } from "./term.ts";

/** Of a WebP image, for which the caller waits. */
const conversionMs = 5_000;

export interface TaskOptions extends OperatorConsoleOptions {
  /** Opens a pool of connections as the messenger's role. @param onClose is called when one is closed. */
  readonly connect: (max: number, onClose?: () => void) => Promise<postgres.Sql>;
  /** Opens a pool of connections as the console's role, which may only read what the console shows. */
  readonly connectConsole: (max: number) => Promise<postgres.Sql>;
  readonly encryption: Encryption;
  readonly platform: WhatsAppSettings;
  readonly findSettings: ChannelOptions["findSettings"];
  readonly pace: Pace;
  /** Messages of one sender that may wait to be sent. */
  readonly maxWaiting: number;
  readonly findTokens: (refresh: boolean) => Promise<readonly string[]>;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Which addresses downloads and callbacks may reach; only the public web by default. */
  readonly connector?: buildConnector.connector | undefined;
  /** Which ones callbacks may reach, if they differ. */
  readonly callbackConnector?: buildConnector.connector | undefined;
  /** Of callbacks. */
  readonly schedule?: Schedule | undefined;
}

export interface Task {
  readonly url: string;
  /** What this task has of an account, by default that of a new stage, while it leads it. */
  findLeadership(account?: number): Leadership | undefined;
  /**
   * Closes the WhatsApp connection first, so that another task can lead; accepts messages until clients no
   * longer resolve its address; then answers the requests in progress and disconnects from the database.
   */
  stop(unresolved?: Promise<unknown>): Promise<void>;
}

type Leaderships = ReadonlyMap<number, Leadership>;

const checkHealth = async (sql: postgres.Sql, leaderships: Leaderships): Promise<Health> => {
  const database = await isDatabaseUp(sql);
  const states = [...leaderships.values()].map(({ link }) => link.state().kind);
  return {
    database,
    leader: leaderships.size > 0,
    // of several accounts one that is not connected
    platform: states.find((state) => state !== "open") ?? states[0] ?? "not leader",
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
  const [sql, bulkSql, consoleSql] = await Promise.all([
    connect(messengerPools.sender),
    connect(messengerPools.bulk),
    options.connectConsole(messengerPools.console),
  ]);
  const leaderships = new Map<number, Leadership>();
  const watched = new Wakeup();
  const notify = () => watched.notify();
  const findLeadership = (account: number = firstAccount) => leaderships.get(account);
  const stopping = new AbortController();
  const payloads = payloadStore(sql, encryption);
  const acceptance = {
    sql,
    newId: newMessageId,
    quota: new Quota(sql, options.maxWaiting),
    isOptedOut: async (phone: string) => isOptedOut(sql, await options.findPepper(), phone),
    seal: payloads.sealText,
    notify,
  };
  const store = openIntake(sql);
  const handleInbound = (inbound: Inbound, signal: AbortSignal) =>
    readReplies({ sql, findPepper: options.findPepper, newId: newMessageId, signal, notify })(inbound);
  const server = buildServer({
    findTokens,
    accept: (submission, inline, signal) =>
      accept(
        {
          ...acceptance,
          store,
          fetchMedia: (wanted, bytes) =>
            openSource(wanted, bytes, connector, (image) =>
              convertImage(image, { maxMs: conversionMs, signal }),
            ),
        },
        submission,
        inline,
        signal,
      ),
    acceptBatch: (submissions) => acceptBatch(acceptance, submissions),
    findState: async (id, sender) => {
      const state = await findState(sql, id, sender);
      return state && (await addWaitReasons(sql, leaderships, [state]))[0];
    },
    // a list of many messages takes time, for which the sender does not wait
    listMessages: async (query) => {
      const page = await listMessages(bulkSql, encryption, query);
      return { ...page, messages: await addWaitReasons(bulkSql, leaderships, page.messages) };
    },
    cancel: (id, sender) => cancel(sql, id, sender),
    applyEvents: (events) => applyEvents(sql, events, (inbound) => handleInbound(inbound, stopping.signal)),
    findConnection: () => ({ ...(findLeadership()?.whatsApp?.state() ?? { kind: "closed" }) }),
    checkHealth: () => checkHealth(sql, leaderships),
  });
  const desk = openBulkDesk({
    sql: bulkSql,
    consoleSql,
    acceptBatch: (submissions) => acceptBatch(acceptance, submissions),
    plan: (phones) => planMessages(bulkSql, options.pace, phones),
    findPepper: options.findPepper,
    signal: stopping.signal,
  });
  buildConsole(server, { ...options, bulk: desk }, sql, consoleSql, leaderships);
  const openFrom = new OpenFrom();
  const election = runLeaderElection({
    connect: (onClose) => connect(messengerPools.election, onClose),
    lead: leadTerm({ ...options, sql, openFrom, leaderships, onInbound: handleInbound }),
    keepUp: async (signal) => {
      await Promise.all([runRetention(sql, signal), runRelease(sql, notify, signal)]);
    },
    signal: stopping.signal,
  });
  const senders = () => new Map([...leaderships].map(([id, { wakeup }]) => [id, wakeup]));
  const watching = runWatch({ sql, senders, openFrom, wakeup: watched, signal: stopping.signal });
  const calling = runCallbacks({
    ...{ ...options, sql, signal: stopping.signal },
    connector: options.callbackConnector ?? connector,
  });
  const stop = async (unresolved?: Promise<unknown>) => {
    stopping.abort();
    await Promise.all([election, calling, watching, desk.stop()]);
    await unresolved;
    await server.close();
    // no queries are left; without a timeout the driver waits for connections that the server has closed
    await Promise.all([sql, bulkSql, consoleSql].map((pool) => pool.end({ timeout: 1 })));
  };
  try {
    return { url: await server.listen({ host, port }), findLeadership, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
