import type postgres from "postgres";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { Accepted } from "#lib/messaging/submission.ts";

/** What notifying needs of the world around it. */
export interface Means {
  /** Two connections of the role `municipal_notify`: while one reads an audience, the other one writes. */
  readonly sql: postgres.Sql;
  readonly submit: (draft: Draft) => Promise<Accepted>;
  readonly submitBatch: (drafts: readonly Draft[]) => Promise<string[]>;
  /** Recognises a number without keeping it. */
  readonly pepper: { readonly version: number; readonly digest: (phone: string) => Buffer | null };
  /** Unix milliseconds after which nothing more is begun. */
  readonly until: number;
  /** How long a messenger that is away is waited for. */
  readonly patienceMs: number;
}
