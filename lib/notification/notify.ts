import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { submit, submitBatch } from "#lib/messaging/messenger-client.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { type NotifyContext, withRetry } from "./context.ts";
import { Requested, RequestedEvent, ScheduleInput } from "./event.ts";
import { runJob } from "./job-run.ts";
import { type RequestOutcome, refuseRequest, requestNotification } from "./request.ts";
import { RunError } from "./run.ts";

/** Reserved for finishing the last batch: one submission and its record. */
const reserveMs = 20_000;

/** Limited only by the function's remaining time. */
const maxWaitMs = Number.POSITIVE_INFINITY;

const withContext = async <T>(
  remainingMs: number,
  work: (context: NotifyContext) => Promise<T>,
): Promise<T> => {
  const until = Date.now() + remainingMs - reserveMs;
  const open = async () => {
    const pepper = await digestTerm();
    return { sql: await connect(2), submit, submitBatch, pepper, until, maxWaitMs };
  };
  // retries whatever fails, because Secrets Manager may be briefly unavailable
  const context = await withRetry(until, open, () => true);
  return work(context).finally(() => context.sql.end({ timeout: 1 }));
};

const handleRequest = (
  context: NotifyContext,
  { id, time, detail }: RequestedEvent,
): Promise<RequestOutcome> => {
  const parsed = Requested.safeParse(detail);
  if (!parsed.success) {
    const fields = [...new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? "detail")))];
    return refuseRequest(context, id, `invalid: ${fields.join(", ")}`);
  }
  const { request_id, ...request } = parsed.data;
  return requestNotification(context, { ...request, id: request_id ?? id, requestedAt: new Date(time) });
};

const processRequest = async (event: RequestedEvent, remainingMs: number): Promise<void> => {
  const fields = { request: event.id };
  try {
    const result = await withContext(remainingMs, (context) => handleRequest(context, event));
    const level = result.outcome === "failed" ? "error" : result.outcome === "accepted" ? "info" : "warn";
    log[level]("notification", { ...fields, ...result });
  } catch (error) {
    log.error("notification failed", { ...fields, error });
  }
};

const processSchedule = async (input: ScheduleInput, remainingMs: number): Promise<void> => {
  try {
    const run = await withContext(remainingMs, (context) => runJob(context, input));
    const { id, accepted, opted_out, refused, expired } = run;
    const level = refused > 0 ? "warn" : "info";
    log[level]("notification run", { ...input, run: id, accepted, opted_out, refused, expired });
  } catch (error) {
    const { message, cause = error } = error as Error;
    log.error("notification run failed", { ...input, reason: message, error: cause });
    // Lambda retries a run that throws
    throw error instanceof RunError ? new RunError(message) : new RunError("the run failed");
  }
};

/**
 * Handles an event: the input of a schedule runs a job, a bus event sends one notification.
 *
 * @param remainingMs until the function times out.
 * @throws RunError for a run, so that Lambda retries it. Never throws for a single notification: Lambda would store
 * the event, including phone number and code.
 */
export const notify = async (event: unknown, remainingMs: number): Promise<void> => {
  const scheduled = ScheduleInput.safeParse(event);
  const requested = RequestedEvent.safeParse(event);
  if (scheduled.success) await processSchedule(scheduled.data, remainingMs);
  else if (requested.success) await processRequest(requested.data, remainingMs);
  else log.error("the event is neither a schedule input nor a notification request");
};
