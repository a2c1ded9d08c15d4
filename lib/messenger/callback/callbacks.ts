import type postgres from "postgres";
import { Agent, type buildConnector } from "undici";
import { guardConnector } from "#lib/channels/address-guard.ts";
import { log } from "#lib/log.ts";
import type { Encryption } from "../outbox/encryption.ts";
import { Wakeup } from "../outbox/wakeup.ts";
import {
  changeType,
  claimEvents,
  completeEvent,
  disableCallback,
  type Event,
  failEvent,
  giveUpEvents,
  releaseEvent,
  type Schedule,
} from "./event.ts";
import { type Outcome, post, sign } from "./post.ts";

const giveUpEveryMs = 60_000;
/** With it, a receiver ends its callbacks (Standard Webhooks, "Operational considerations"). */
const gone = 410;

/** An address that is back gets its events within five minutes. */
const defaultSchedule: Schedule = {
  everyMs: 1_000,
  leaseSeconds: 60,
  firstSeconds: 2,
  longestSeconds: 3_600,
  longestOfAddressSeconds: 300,
};

export interface CallbackOptions {
  readonly sql: postgres.Sql;
  readonly encryption: Encryption;
  /** Which addresses may be called; only the public web by default. */
  readonly connector?: buildConnector.connector | undefined;
  readonly schedule?: Schedule | undefined;
  readonly signal: AbortSignal;
}

/** Where the secret is stored. */
export const secretContext = (sender: string, url: string): string => `callback/${sender}/${url}`;

/** @returns undefined if another key has encrypted them, such as that of another stage. */
export const openSecrets = (
  { sender, url, secrets }: Pick<Event, "sender" | "url" | "secrets">,
  encryption: Encryption,
): Buffer[] | undefined => {
  try {
    return secrets.map((secret) => encryption.decrypt(secretContext(sender, url), secret));
  } catch {
    return undefined;
  }
};

const bodyOf = ({ message }: Event): string =>
  JSON.stringify({ type: changeType, timestamp: message.changed_at, data: message });

/**
 * Sends the changes of messages' states to the addresses of their senders until the signal is aborted: those of one message
 * in order, each until its address accepts it, for 24 hours. Each task does this; a claim keeps an event from the others.
 */
export const runCallbacks = async (options: CallbackOptions): Promise<void> => {
  const { sql, encryption, signal, schedule = defaultSchedule } = options;
  const agent = new Agent({ connect: options.connector ?? guardConnector(), allowH2: false, pipelining: 1 });
  const wakeup = new Wakeup();
  /** By address: one that does not answer delays its own events only. */
  const underWay = new Map<number, Promise<unknown>>();

  const attempt = async (event: Event): Promise<Outcome> => {
    const id = `evt_${event.id}`;
    const body = bodyOf(event);
    const secrets = openSecrets(event, encryption);
    if (!secrets) return { isOfAddress: true, reason: "the secret cannot be decrypted" };
    const headers = sign(secrets, id, Math.floor(Date.now() / 1_000), body);
    return post(agent, event.url, headers, body);
  };

  const deliver = async (event: Event): Promise<void> => {
    const failure = await attempt(event);
    if (failure && signal.aborted) return releaseEvent(sql, event);
    if (!failure) return completeEvent(sql, event);
    log.warn("a callback failed", { sender: event.sender, event: event.id, reason: failure.reason });
    if (failure.status !== gone) return failEvent(sql, event, failure, schedule);
    log.warn("the address of a callback is disabled", { sender: event.sender, reason: failure.reason });
    await disableCallback(sql, event, gone);
  };

  const deliverAll = async (callbackId: number, events: readonly Event[]) => {
    await Promise.all(
      events.map((event) =>
        // what is not stored is tried again after its lease
        deliver(event).catch((error: unknown) =>
          log.warn("the outcome of a callback is not stored", { error }),
        ),
      ),
    );
    underWay.delete(callbackId);
    wakeup.notify();
  };

  const work = async (): Promise<void> => {
    const events = await claimEvents(sql, [...underWay.keys()], schedule);
    for (const [callbackId, group] of Map.groupBy(events, (event) => event.callbackId))
      underWay.set(callbackId, deliverAll(callbackId, group));
  };

  for (let checkedAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
    await work().catch((error: unknown) => log.warn("callbacks failed", { error }));
    if (performance.now() - checkedAt > giveUpEveryMs) {
      checkedAt = performance.now();
      await giveUpEvents(sql).catch((error: unknown) => log.warn("callbacks failed", { error }));
    }
    await wakeup.wait(schedule.everyMs, signal);
  }
  await agent.destroy();
  await Promise.all(underWay.values());
};
