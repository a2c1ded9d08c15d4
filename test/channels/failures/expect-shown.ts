import { expect } from "vitest";
import type { State } from "#lib/messaging/submission.ts";
import type { Task } from "#lib/messenger/task.ts";
import { metricsOf, platform, readConsole, stateOf } from "../../fleet/running-task.ts";
import { textOf } from "../../steps/page-text.ts";

/** What everyone sees of a message in a failure mode of the platform. */
export interface Shown {
  readonly status: State;
  /** Frames with the message that left. */
  readonly frames: number;
  /** Why, in the message's state and in the console. */
  readonly reason?: RegExp;
  /** What the console says of the message besides its state; by default the reason. */
  readonly console?: RegExp | undefined;
  /** The names of the console's alerts; by default none. */
  readonly alerts?: readonly string[] | undefined;
  /** What the console says about limits and outages; by default nothing. */
  readonly limits?: RegExp | undefined;
  /** The task's metrics that are not 0: sends by outcome, and others. */
  readonly metrics: Readonly<Record<string, number>>;
}

const observe = async (task: Task, id: string) => {
  const { status, reason = "" } = await stateOf(task, id);
  const page = await readConsole(task);
  const find = (pattern: RegExp) => textOf(pattern.exec(page)?.[1] ?? "");
  return {
    status,
    reason,
    frames: platform.arrivalsOf(id),
    message: find(new RegExp(`<tr id="message-${id}"[^>]*>\\s*<td[^>]*>([\\s\\S]*?)</td>`)),
    // each page shows them
    alerts: [...new Set([...page.matchAll(/data-alert="(\w+)"/g)].map(([, name]) => name))],
    limits: find(/<p id="limits"[^>]*>([^<]*)/),
    metrics: await metricsOf(task),
  };
};

/** Waits until state, frames, console and metrics are those of a row. */
export const expectShown = (task: Task, id: string, row: Shown) => {
  const { status, frames, reason, console = reason, alerts = [], limits, metrics } = row;
  return expect
    .poll(() => observe(task, id))
    .toEqual({
      status,
      frames,
      reason: reason ? expect.stringMatching(reason) : "",
      message: expect.stringMatching(
        console ? new RegExp(`^${status} .*(?:${console.source})`) : `^${status}$`,
      ),
      alerts,
      limits: limits ? expect.stringMatching(limits) : "",
      metrics,
    });
};

export const isRead = (frames: number, metrics: Shown["metrics"]): Shown => ({
  status: "READ",
  frames,
  metrics,
});
/** With 463, after another message was sent. */
export const isRejected = (frames: number): Shown => ({
  status: "PENDING",
  frames,
  console: /rejected before, code 463/,
  metrics: { sent: 1, retried: 1 },
});
