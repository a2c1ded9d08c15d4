import type postgres from "postgres";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { listDepths } from "./outbox/depth.ts";

/** What the task counts, for Prometheus. No label holds a number or an id. */
export interface Metrics {
  onOutcome(outcome: "sent" | "failed" | "retried", ms: number): void;
  onReconnect(): void;
  /** Looks at the queue, and spells everything. */
  render(): Promise<{ contentType: string; text: string }>;
}

const ackBucketsSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** @param leads whether this task leads. */
export const startMetrics = (sql: postgres.Sql, leads: () => boolean): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  const sends = new Counter({
    name: "messenger_sends_total",
    help: "Sends by outcome: sent, failed, retried",
    labelNames: ["outcome"],
    registers,
  });
  const ack = new Histogram({
    name: "messenger_ack_seconds",
    help: "From the frame to the platform's answer",
    buckets: ackBucketsSeconds,
    registers,
  });
  const reconnects = new Counter({
    name: "messenger_reconnects_total",
    help: "Connections to the platform after the first",
    registers,
  });
  const depth = new Gauge({
    name: "messenger_messages",
    help: "Messages in a state that is not final",
    labelNames: ["state"],
    registers,
  });
  const age = new Gauge({
    name: "messenger_oldest_message_seconds",
    help: "Age of the oldest message in a state that is not final",
    labelNames: ["state"],
    registers,
  });
  const leader = new Gauge({
    name: "messenger_leader",
    help: "1 for the task that leads",
    registers,
  });
  const memory = new Gauge({ name: "process_resident_memory_bytes", help: "Resident memory", registers });

  const look = async () => {
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
    async render() {
      // what the task counted itself is told also while the database is away
      await look().catch(() => {
        depth.reset();
        age.reset();
      });
      leader.set(leads() ? 1 : 0);
      memory.set(process.memoryUsage.rss());
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
};
