import { Fault } from "#lib/faults/fault.ts";
import { log } from "#lib/log.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { Means } from "./context.ts";
import { draftOf, heedsOptOut } from "./draft.ts";
import { listOptedOut } from "./opt-out.ts";
import { patienceOf, withPatience } from "./retry.ts";
import { findTemplate } from "./templates.ts";

/** A single notification that somebody asks for. */
export interface NotificationRequest {
  /** The same request has the same id, however often it comes. */
  readonly id: string;
  readonly template: string;
  readonly phone: string;
  readonly values: unknown;
  readonly requestedAt: Date;
}

/** What became of it. No reason holds any data. */
export interface RequestOutcome {
  readonly outcome: "accepted" | "opted_out" | "refused" | "expired" | "failed";
  readonly reason?: string | undefined;
  readonly messageId?: string | undefined;
}

const refused = (reason: string): RequestOutcome => ({ outcome: "refused", reason });

/** A file is fetched before it is taken, which goes one by one; a key that is known was taken before. */
const submitFile = async ({ submit }: Means, draft: Draft): Promise<RequestOutcome> => {
  try {
    return { outcome: "accepted", messageId: (await submit(draft)).id };
  } catch (error) {
    if (error instanceof Fault && error.status === 422) return { outcome: "accepted" };
    throw error;
  }
};

const submitText = async ({ submitBatch }: Means, draft: Draft): Promise<RequestOutcome> => ({
  outcome: "accepted",
  messageId: (await submitBatch([draft]))[0],
});

const carryOut = async (means: Means, request: NotificationRequest): Promise<RequestOutcome> => {
  const { id, phone, values, requestedAt } = request;
  const template = findTemplate(request.template);
  if (!template) return refused("there is no such template");
  const expiresAt = requestedAt.getTime() + template.expiresInMinutes * 60_000;
  const drafted = draftOf({ template, phone, values, expiresAt, key: `request|${id}` });
  if (!("draft" in drafted)) return drafted;
  if (heedsOptOut(template) && (await listOptedOut(means, [phone])).size > 0) return { outcome: "opted_out" };
  const { draft } = drafted;
  try {
    return await withPatience(Math.min(patienceOf(means), expiresAt), () =>
      draft.kind === "text" ? submitText(means, draft) : submitFile(means, draft),
    );
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { status, code } = error;
    return status < 500
      ? refused(`the messenger refused it (${code})`)
      : { outcome: "failed", reason: `the messenger did not take it (${code})` };
  }
};

const keep = async ({ sql }: Means, { id, template }: NotificationRequest, done: RequestOutcome) => {
  await sql`
    insert into notification.request as held (id, template, outcome, reason, message_id)
    values (${id}, ${template}, ${done.outcome}, ${done.reason ?? null}, ${done.messageId ?? null})
    on conflict (id) do update
    set outcome = excluded.outcome, reason = excluded.reason, message_id = excluded.message_id, changed_at = now()
    where held.outcome <> 'accepted'`;
};

/**
 * Sends a single notification, once for each id, and keeps what became of it.
 *
 * It never throws: whoever called would keep the whole request, number and code included, to try it again or
 * to lay it aside. What failed is told by its id and its reason, in the database and in the log.
 */
export const requestNotification = async (
  means: Means,
  request: NotificationRequest,
): Promise<RequestOutcome> => {
  const { id, template } = request;
  const done = await carryOut(means, request).catch((error: unknown): RequestOutcome => {
    log.error("notification failed", { request: id, template, error });
    const { name = "unknown", code } = error as { name?: string; code?: string };
    return { outcome: "failed", reason: `failed by ${code ?? name}` };
  });
  await keep(means, request, done).catch((error: unknown) =>
    log.error("what became of a notification could not be kept", { request: id, template, error }),
  );
  return done;
};

/** Keeps that an event asked for something that cannot be understood. */
export const refuseRequest = async (means: Means, id: string, reason: string): Promise<RequestOutcome> => {
  const done = refused(reason);
  await keep(means, { id, template: "", phone: "", values: {}, requestedAt: new Date() }, done).catch(
    (error: unknown) => log.error("what became of a notification could not be kept", { request: id, error }),
  );
  return done;
};

interface KeptRequest {
  readonly id: string;
  readonly template: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly changedAt: Date;
}

/** The last requests that did not lead to a message, newest first. */
export const listFailedRequests = ({ sql }: Pick<Means, "sql">, limit: number) => sql<KeptRequest[]>`
  select id, template, outcome, reason, changed_at as "changedAt" from notification.request
  where outcome <> 'accepted' order by changed_at desc limit ${limit}`;
