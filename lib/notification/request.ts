import { ApiError } from "#lib/errors/api-error.ts";
import { log } from "#lib/log.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { type NotifyContext, retryDeadline, withRetry } from "./context.ts";
import { createDraft, respectsOptOut } from "./draft.ts";
import { listOptedOut } from "./opt-out.ts";
import { explain } from "./run.ts";
import { resolveTemplate } from "./template-version.ts";

export interface NotificationRequest {
  /** Idempotency key of the request. */
  readonly id: string;
  readonly template: string;
  readonly phone: string;
  readonly values: unknown;
  readonly requestedAt: Date;
}

/** The outcome of a request. Reasons contain no personal data. */
export interface RequestOutcome {
  readonly outcome: "accepted" | "opted_out" | "refused" | "expired" | "failed";
  readonly reason?: string | undefined;
  readonly messageId?: string | undefined;
}

const refused = (reason: string): RequestOutcome => ({ outcome: "refused", reason });

/** Submits a file by itself: the messenger downloads it before accepting. 422 means that the key was accepted before. */
const submitFile = async ({ submit }: NotifyContext, draft: Draft): Promise<RequestOutcome> => {
  try {
    return { outcome: "accepted", messageId: (await submit(draft)).id };
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return { outcome: "accepted" };
    throw error;
  }
};

const submitText = async ({ submitBatch }: NotifyContext, draft: Draft): Promise<RequestOutcome> => ({
  outcome: "accepted",
  messageId: (await submitBatch([draft]))[0],
});

const processRequest = async (
  context: NotifyContext,
  request: NotificationRequest,
): Promise<RequestOutcome> => {
  const { id, phone, values, requestedAt } = request;
  const template = await resolveTemplate(context.sql, request.template);
  if (!template) return refused("unknown template");
  const expiresAt = requestedAt.getTime() + template.expiresInMinutes * 60_000;
  const created = createDraft({ template, phone, values, expiresAt, key: `request|${id}` });
  if (!("draft" in created)) return created;
  if (respectsOptOut(template) && (await listOptedOut(context, [phone])).size > 0)
    return { outcome: "opted_out" };
  const { draft } = created;
  try {
    return await withRetry(Math.min(retryDeadline(context), expiresAt), () =>
      draft.kind === "text" ? submitText(context, draft) : submitFile(context, draft),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code } = error;
    return status < 500
      ? refused(`rejected by the messenger (${code})`)
      : { outcome: "failed", reason: `not accepted by the messenger (${code})` };
  }
};

const storeResult = async (
  { sql }: NotifyContext,
  { id, template }: Pick<NotificationRequest, "id" | "template">,
  { outcome, reason, messageId }: RequestOutcome,
): Promise<void> => {
  await sql`
    insert into notification.request as stored (id, template, outcome, reason, message_id)
    values (${id}, ${template}, ${outcome}, ${reason ?? null}, ${messageId ?? null})
    on conflict (id) do update
    set outcome = excluded.outcome, reason = excluded.reason, message_id = excluded.message_id, changed_at = now()
    where stored.outcome <> 'accepted'`.catch((error: unknown) =>
    log.error("the outcome of a notification could not be stored", { request: id, template, error }),
  );
};

/**
 * Sends a single notification, once per id, and stores the outcome.
 *
 * Never throws: the caller's retry or dead-letter queue would store the whole request, including phone number and
 * code. Failures are reported by id and reason, in the database and in the log.
 */
export const requestNotification = async (
  context: NotifyContext,
  request: NotificationRequest,
): Promise<RequestOutcome> => {
  const { id, template } = request;
  const result = await processRequest(context, request).catch((error: unknown): RequestOutcome => {
    log.error("notification failed", { request: id, template, error });
    return { outcome: "failed", reason: explain(error) };
  });
  await storeResult(context, request, result);
  return result;
};

export const refuseRequest = async (
  context: NotifyContext,
  id: string,
  reason: string,
): Promise<RequestOutcome> => {
  const result = refused(reason);
  await storeResult(context, { id, template: "" }, result);
  return result;
};

interface FailedRequest {
  readonly id: string;
  readonly template: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly changedAt: Date;
}

/** Lists the last requests without a message, newest first. */
export const listFailedRequests = ({ sql }: Pick<NotifyContext, "sql">, limit: number) => sql<
  FailedRequest[]
>`
  select id, template, outcome, reason, changed_at as "changedAt" from notification.request
  where outcome <> 'accepted' order by changed_at desc limit ${limit}`;
