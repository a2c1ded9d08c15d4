import type postgres from "postgres";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { listDepths } from "./outbox/depth.ts";
import type { Reaction } from "./reply/reply.ts";

/** Metrics for Prometheus. No label contains a phone number or an id. */
export interface Metrics {
  onOutcome(outcome: "sent" | "failed" | "retried", ms: number): void;
  onReconnect(): void;
  /** A message that its recipient's phone could not decrypt. */
  onUndecryptable(): void;
  /** What was done about a message from a person. */
  onReaction(reaction: Reaction): void;
  /** An attempt to tell a sender's address of a change. */
  onCallback(outcome: "accepted" | "failed"): void;
  /** Queries the queue and renders all metrics. */
  render(): Promise<{ contentType: string; text: string }>;
}

const ackBucketsSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

export const startMetrics = (
  sql: postgres.Sql,
  isLeader: () => boolean,
  isLimited: () => boolean,
): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const sends = new Counter({
    name: "messenger_sends_total",
    help: "Sends by outcome: sent, failed, retried",
    labelNames: ["outcome"],
    registers,
  });
  const ack = new Histogram({
    name: "messenger_ack_seconds",
    help: "Time from sending a message to the platform's answer",
    buckets: ackBucketsSeconds,
    registers,
  });
  const reconnects = new Counter({
    name: "messenger_reconnects_total",
    help: "Connections to the platform after the first",
    registers,
  });
  const undecryptable = new Counter({
    name: "messenger_undecryptable_total",
    help: "Messages that the recipient's phone could not decrypt",
    registers,
  });
  const replies = new Counter({
    name: "messenger_replies_total",
    help: "Messages from persons by what was done: opted_out, opted_in, answered, unresolved (a word from an unknown number)",
    labelNames: ["reaction"],
    registers,
  });
  const callbacks = new Counter({
    name: "messenger_callbacks_total",
    help: "Attempts to send changes of state to the senders' addresses by outcome: accepted, failed",
    labelNames: ["outcome"],
    registers,
  });
  const depth = gauge("messenger_messages", "Messages in a non-final state", "state");
  const age = gauge(
    "messenger_oldest_message_seconds",
    "Age of the oldest message in a non-final state",
    "state",
  );
  const leader = gauge("messenger_leader", "1 if this task is the leader");
  const limited = gauge("messenger_new_contacts_limited", "1 while the platform rejects new contacts");
  const memory = gauge("process_resident_memory_bytes", "Resident memory");

  const readQueue = async () => {
    const rows = await listDepths(sql);
    for (const state of ["PENDING", "SENDING"]) {
      const row = rows.find((candidate) => candidate.state === state);
      depth.set({ state }, row?.count ?? 0);
      age.set({ state }, row?.oldestSeconds ?? 0);
    }
  };

  return {
    onOutcome(outcome, ms) {
      sends.inc({ outcome });
      if (outcome === "sent") ack.observe(ms / 1_000);
    },
    onReconnect: () => reconnects.inc(),
    onUndecryptable: () => undecryptable.inc(),
    onReaction: (reaction) => replies.inc({ reaction }),
    onCallback: (outcome) => callbacks.inc({ outcome }),
    async render() {
      // the other metrics are available without the database
      await readQueue().catch(() => {
        depth.reset();
        age.reset();
      });
      leader.set(isLeader() ? 1 : 0);
      limited.set(isLimited() ? 1 : 0);
      memory.set(process.memoryUsage.rss());
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
};
