import { createHash } from "node:crypto";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { type NotifyContext, retryDeadline, withRetry } from "./context.ts";
import { createDraft, type DraftInput, respectsOptOut } from "./draft.ts";
import { listOptedOut } from "./opt-out.ts";
import { type DedupeScope, listOutcomes, type RecipientOutcome, storeOutcomes } from "./recipient.ts";

/** What is sent to the recipients of a source: an audience or a file. */
export interface Mailing extends Pick<DraftInput, "template" | "expiresAt"> {
  readonly scope: DedupeScope;
  /** Id of the run; undefined for a preview of one that has not begun. */
  readonly run?: string;
}

/** Someone to notify, as a source gives it. */
export interface Recipient
  extends Pick<DraftInput, "phone" | "country" | "values" | "sendAt">,
    Pick<RecipientOutcome, "key" | "line" | "file" | "masked"> {
  /** Why there is no message, whatever the values are. Contains no personal data. */
  readonly problem?: string | null | undefined;
}

/** A recipient with a message, or with the reason why there is none. */
export type Decision<R extends Recipient = Recipient> = R & {
  readonly draft?: Draft;
  readonly outcome?: RecipientOutcome["outcome"];
  readonly reason?: RecipientOutcome["reason"];
  /** The outcome that is stored already. */
  readonly known: RecipientOutcome | undefined;
};

/** Idempotency key of a message. Does not depend on the execution, so that a retried run repeats its keys. */
const messageKeyOf = ({ job, at }: DedupeScope, key: string): string =>
  `${job}|${at}|${createHash("sha256").update(key).digest("hex")}`;

/** Creates the message of a recipient, whatever was sent before. */
export const draftFor = (mailing: Mailing, recipient: Recipient) =>
  createDraft({ ...recipient, ...mailing, key: messageKeyOf(mailing.scope, recipient.key) });

/** Decides about recipients, in their order. Who has a message gets no second one. */
export const decide = async <R extends Recipient>(
  context: Pick<NotifyContext, "sql" | "pepper">,
  mailing: Mailing,
  recipients: readonly R[],
): Promise<Decision<R>[]> => {
  const keys = recipients.map(({ key }) => key);
  const known = await listOutcomes(context.sql, mailing.scope, keys);
  const isSent = ({ key }: Recipient) => known.get(key)?.outcome === "accepted";
  const phones = recipients.flatMap((one) => (isSent(one) || one.problem ? [] : (one.phone ?? [])));
  const optedOut = respectsOptOut(mailing.template) ? await listOptedOut(context, phones) : new Set<string>();
  const decideOne = (recipient: R) => {
    if (isSent(recipient)) return { outcome: "accepted" as const };
    if (recipient.problem) return { outcome: "refused" as const, reason: recipient.problem };
    if (recipient.phone && optedOut.has(recipient.phone)) return { outcome: "opted_out" as const };
    return draftFor(mailing, recipient);
  };
  return recipients.map((recipient) => ({
    ...recipient,
    known: known.get(recipient.key),
    ...decideOne(recipient),
  }));
};

const isChange = ({ known, draft, outcome, reason = null }: Decision): boolean =>
  draft !== undefined || known?.outcome !== outcome || known?.reason !== reason;

/** Submits the messages of a batch and stores what became of its recipients. */
export const deliver = async (
  context: Pick<NotifyContext, "sql" | "submitBatch" | "until" | "maxWaitMs">,
  { scope, run }: Mailing & { readonly run: string },
  decisions: readonly Decision[],
): Promise<void> => {
  const drafts = decisions.flatMap(({ draft }) => draft ?? []);
  const submit = () => context.submitBatch(drafts);
  const ids = drafts.length > 0 ? await withRetry(retryDeadline(context), submit) : [];
  const messageIds = new Map(drafts.map((draft, index) => [draft, ids[index]]));
  const results = decisions.filter(isChange).map(
    ({ key, line, file, masked, sendAt, draft, outcome = "accepted", reason }): RecipientOutcome => ({
      ...{ key, line, file, masked, outcome, reason },
      ...(draft && { sendAt, messageId: messageIds.get(draft) }),
    }),
  );
  await storeOutcomes(context.sql, scope, run, results);
};

/** Masks all but the first letter of each word of a recipient's name, for a preview. */
export const maskName = <R extends Pick<Recipient, "values">>(recipient: R): R => {
  const { name } = (recipient.values ?? {}) as { name?: unknown };
  if (typeof name !== "string") return recipient;
  const values = { ...(recipient.values as object), name: name.replace(/(?<=\p{L})\p{L}/gu, "•") };
  return { ...recipient, values };
};
