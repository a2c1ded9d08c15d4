import type postgres from "postgres";
import { beforeEach, expect, onTestFinished, vi } from "vitest";
import type { Channel, Limits, SendOutcome } from "#lib/channels/channel.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { Wakeup } from "#lib/messenger/outbox/wakeup.ts";
import { loadHistory } from "#lib/messenger/send/history.ts";
import { noPace, type Pace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { runSender } from "#lib/messenger/send/sender.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { beginTerm, number, putMessage } from "../../fleet/outbox-rows.ts";

/*
 * A sender with its own database and a platform that the test controls; channels/whatsapp tests the real one.
 */

export const acked: SendOutcome = { outcome: "acked" };

export let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
export let sql: postgres.Sql;
export let wakeup: Wakeup;
export let sent: string[];
export let composed: string[];
export let pacing: Pacing;
let made: number;
/** The behaviour of the platform. */
export const platform = {
  isOpen: true,
  registered: async (_phone: string): Promise<boolean> => true,
  compose: async (_message: Outgoing): Promise<void> => {},
  verdicts: async (_message: Outgoing): Promise<SendOutcome> => acked,
  limits: async (): Promise<Limits> => ({}),
  /** Numbers whose devices are cached. */
  known: new Set<string>(),
};
const defaults = { ...platform };

/** Resets everything for each test. */
export const useSender = () =>
  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(4);
    wakeup = new Wakeup();
    [sent, composed, made] = [[], [], 0];
    Object.assign(platform, defaults);
  });

const channel: Channel = {
  name: "whatsapp",
  canRepeat: true,
  directory: {
    findAddress: async (phone) => ((await platform.registered(phone)) ? phone : undefined),
    knowsDevices: (address) => platform.known.has(address),
    listReachable: () => [...platform.known],
    refreshRecipient: async () => {},
  },
  isOpen: () => platform.isOpen,
  async compose(message) {
    composed.push(message.id);
    await platform.compose(message);
    return Buffer.from(`payload of ${message.id}`);
  },
  async send(payload, message) {
    expect(Buffer.from(payload).toString()).toBe(`payload of ${message.id}`);
    sent.push(message.id);
    return platform.verdicts(message);
  },
  fetchLimits: () => platform.limits(),
};

export const put = async (phone = "6281200000001", kind: MessageClass = "transactional") => {
  made += 1;
  const id = `M${made}`;
  await putMessage(sql, id, { phone, class: kind });
  return id;
};
/** Stores a message with media to upload. */
export const putImage = async (phone?: string, kind?: MessageClass) => {
  const id = await put(phone, kind);
  await sql`
    with stored as (insert into messaging.media (sender, content_type) values ('api:test', 'image/png') returning id)
    update messaging.message set kind = 'image', media_id = stored.id from stored where message.id = ${id}`;
  return id;
};
const flip = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 255));

export const lead = async (pace: Pace = noPace, poolEveryMs?: number) => {
  const epoch = await beginTerm(sql);
  const end = new AbortController();
  pacing = new Pacing(pace, await loadHistory(sql, number));
  const done = runSender({
    sql,
    account: firstAccount,
    epoch,
    channel,
    pacing,
    wakeup,
    poolEveryMs,
    signal: end.signal,
    encrypt: (_, payload) => flip(payload),
    decrypt: (_, encrypted) => flip(encrypted),
    openText: (_, sealed) => sealed,
    isOptedOut: async () => false,
  });
  const stop = async () => {
    end.abort();
    await done;
  };
  onTestFinished(stop);
  return stop;
};

export const stateOf = async (id: string) => (await findState(sql, id))?.status;
export const eventually = (id: string, status: string) => expect.poll(() => stateOf(id)).toBe(status);

/** Resolves once no message is under way and the sender has found nothing to do in the current outbox. */
export const untilIdle = async () => {
  const waits = vi.spyOn(wakeup, "wait").mock.calls;
  const before = waits.length;
  const look = async () => {
    const underWay = await sql`select from messaging.message where state = 'SENDING'`;
    wakeup.notify();
    return underWay.length === 0 ? waits.length - before : 0;
  };
  // the first wait may follow a query that started earlier
  await expect.poll(look).toBeGreaterThanOrEqual(2);
};
