import type postgres from "postgres";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { Accepted } from "#lib/messaging/submission.ts";

export interface NotifyContext {
  /** Two connections of the role `municipal_notify`: one reads an audience while the other writes. */
  readonly sql: postgres.Sql;
  readonly submit: (draft: Draft) => Promise<Accepted>;
  readonly submitBatch: (drafts: readonly Draft[]) => Promise<string[]>;
  /** Digests phone numbers, so that they can be compared without being stored. */
  readonly pepper: { readonly version: number; readonly digest: (phone: string) => Buffer | null };
  /** Unix milliseconds after which no new work starts. */
  readonly until: number;
  /** How long to retry while the messenger is unavailable. */
  readonly maxWaitMs: number;
}

/** What a bulk run needs. Its connections are those of the messenger. */
export interface BulkContext extends Omit<NotifyContext, "submit"> {
  /** Returns in how many days the message to each number could be sent. */
  readonly plan: (phones: readonly string[]) => Promise<number[]>;
}
