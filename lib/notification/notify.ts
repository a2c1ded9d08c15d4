import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { submit, submitBatch } from "#lib/messaging/session-client.ts";
import { digestTerm } from "#lib/pepper.ts";
import { runJob } from "./dispatch.ts";
import { Requested, RequestedEvent, ScheduleInput } from "./event.ts";
import type { Means } from "./means.ts";
import { withPatience } from "./patience.ts";
import { refuseRequest, requestNotification } from "./request.ts";

/** What is left to end in order when no more is begun: one hand-over, and its record. */
const reserveMs = 20_000;

/** Secrets Manager may be away for a moment: it is asked again. */
const openMeans = (until: number): Promise<Means> =>
  withPatience(
    until,
    async () => ({ sql: await connect(2), submit, submitBatch, pepper: await digestTerm(), until }),
    () => true,
  );

const withMeans = async <T>(remainingMs: number, work: (means: Means) => Promise<T>): Promise<T> => {
  const means = await openMeans(Date.now() + remainingMs - reserveMs);
  return work(means).finally(() => means.sql.end({ timeout: 1 }));
};

/** It says nothing of what the event holds, and throws nothing: see `notify`. */
const refuseEvent = () => log.error("an event is neither a schedule's nor one that asks for a notification");

const takeRequest = async (means: Means, event: { id: string; time: string; detail: unknown }) => {
  const parsed = Requested.safeParse(event.detail);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? "detail")))];
    return refuseRequest(means, event.id, `not usable: ${fields.join(", ")}`);
  }
  const { request_id, template, phone, values } = parsed.data;
  const requestedAt = new Date(event.time);
  return requestNotification(means, { id: request_id ?? event.id, template, phone, values, requestedAt });
};

/**
 * Does what an event asks for: a schedule's input runs a job, the bus event sends one notification.
 *
 * @param remainingMs until the function would be killed.
 * @throws Error for a run that is to be tried again. For a single notification nothing is thrown: Lambda would
 * keep the event, with number and code, to try it again.
 */
export const notify = async (event: unknown, remainingMs: number): Promise<void> => {
  const scheduled = ScheduleInput.safeParse(event);
  const requested = RequestedEvent.safeParse(event);
  if (scheduled.success) await withMeans(remainingMs, (means) => runJob(means, scheduled.data));
  else if (requested.success)
    await withMeans(remainingMs, (means) => takeRequest(means, requested.data)).catch((error: unknown) =>
      log.error("notification failed", { request: requested.data.id, error }),
    );
  else refuseEvent();
};
