import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { submit, submitBatch } from "#lib/messaging/messenger-client.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import type { Means } from "./context.ts";
import { RunError, runJob } from "./dispatch.ts";
import { Requested, RequestedEvent, ScheduleInput } from "./event.ts";
import { type RequestOutcome, refuseRequest, requestNotification } from "./request.ts";
import { withPatience } from "./retry.ts";

/** What is left to end in order when no more is begun: one hand-over, and its record. */
const reserveMs = 20_000;

/** As long as the function has time. */
const patienceMs = Number.POSITIVE_INFINITY;

/** Secrets Manager may be away for a moment: it is asked again. */
const openMeans = (until: number): Promise<Means> =>
  withPatience(
    until,
    async () => ({
      sql: await connect(2),
      submit,
      submitBatch,
      pepper: await digestTerm(),
      until,
      patienceMs,
    }),
    () => true,
  );

const withMeans = async <T>(remainingMs: number, work: (means: Means) => Promise<T>): Promise<T> => {
  const means = await openMeans(Date.now() + remainingMs - reserveMs);
  return work(means).finally(() => means.sql.end({ timeout: 1 }));
};

const takeRequest = (means: Means, { id, time, detail }: RequestedEvent): Promise<RequestOutcome> => {
  const parsed = Requested.safeParse(detail);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? "detail")))];
    return refuseRequest(means, id, `not usable: ${fields.join(", ")}`);
  }
  const { request_id, ...request } = parsed.data;
  return requestNotification(means, { ...request, id: request_id ?? id, requestedAt: new Date(time) });
};

const answerRequest = async (event: RequestedEvent, remainingMs: number): Promise<void> => {
  const fields = { request: event.id };
  try {
    const done = await withMeans(remainingMs, (means) => takeRequest(means, event));
    const level = done.outcome === "failed" ? "error" : done.outcome === "accepted" ? "info" : "warn";
    log[level]("notification", { ...fields, ...done });
  } catch (error) {
    log.error("notification failed", { ...fields, error });
  }
};

const answerSchedule = async (input: ScheduleInput, remainingMs: number): Promise<void> => {
  try {
    const run = await withMeans(remainingMs, (means) => runJob(means, input));
    const { id, accepted, opted_out, refused, expired } = run;
    const level = refused > 0 ? "warn" : "info";
    log[level]("notification run", { ...input, run: id, accepted, opted_out, refused, expired });
  } catch (error) {
    const { message, cause = error } = error as Error;
    log.error("notification run failed", { ...input, reason: message, error: cause });
    // so that it is tried again
    throw error instanceof RunError
      ? new RunError(message)
      : new RunError("the run could not be carried out");
  }
};

/**
 * Does what an event asks for: a schedule's input runs a job, the bus event sends one notification.
 *
 * @param remainingMs until the function would be killed.
 * @throws RunError for a run that is to be tried again. For a single notification nothing is thrown: Lambda
 * would keep the event, with number and code, to try it again.
 */
export const notify = async (event: unknown, remainingMs: number): Promise<void> => {
  const scheduled = ScheduleInput.safeParse(event);
  const requested = RequestedEvent.safeParse(event);
  if (scheduled.success) await answerSchedule(scheduled.data, remainingMs);
  else if (requested.success) await answerRequest(requested.data, remainingMs);
  else log.error("an event is neither a schedule's nor one that asks for a notification");
};
