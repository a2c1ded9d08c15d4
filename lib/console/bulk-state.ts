import type { Readable } from "node:stream";
import type postgres from "postgres";
import type { BulkPreview } from "#lib/notification/bulk.ts";
import type { BulkOrder } from "#lib/notification/bulk-file.ts";
import { type BulkTemplate, listBulkTemplates } from "#lib/notification/bulk-template.ts";
import {
  listVersions,
  type TemplateDraft,
  type TemplateEditor,
  type TemplateVersion,
} from "#lib/notification/template-version.ts";
import { type BulkRunSummary, listBulkRuns } from "./panels/runs.ts";

/** What an operator says about a file of recipients, with the name of the template. */
export interface BulkWish extends Omit<BulkOrder, "template"> {
  readonly template: string;
}

/** A preview, and what identifies it when the run is started. */
export interface ShownPreview extends BulkPreview {
  readonly fingerprint: string;
  /** Columns of the file that the template does not have. */
  readonly ignored: readonly string[];
}

/** What the page of bulk notifications shows. It contains no numbers and no values of a file. */
export interface BulkState {
  readonly choices: readonly BulkTemplate[];
  readonly runs: readonly BulkRunSummary[];
  readonly versions: readonly TemplateVersion[];
}

/** What the console does with bulk runs and templates. Errors that the operator can correct are RunErrors, HeaderErrors and TemplateErrors. */
export interface BulkDesk {
  readonly read: () => Promise<BulkState>;
  readonly preview: (file: Readable, wish: BulkWish) => Promise<ShownPreview>;
  /**
   * Starts or continues a run, and goes on in the background.
   * @param fingerprint of the preview that the operator has seen. @returns the name of the run.
   */
  readonly start: (file: Readable, wish: BulkWish, fingerprint: string) => Promise<string>;
  /** @returns the report as CSV; undefined for an unknown run. */
  readonly report: (name: string) => Promise<string | undefined>;
  /** @returns the number of the version. */
  readonly addTemplate: (draft: TemplateDraft, author: TemplateEditor) => Promise<number>;
  readonly approveTemplate: (name: string, version: number, approver: TemplateEditor) => Promise<void>;
  readonly retireTemplate: (name: string, version: number) => Promise<void>;
}

const maxVersions = 30;

/** Drafts first, then the texts that are sent: years of former versions must not hide one that waits for an approval. */
const selectVersions = (versions: readonly TemplateVersion[]): TemplateVersion[] => {
  const seen = new Set<string>();
  // the versions of a name come newest first
  const isSent = ({ name, status }: TemplateVersion) =>
    status === "approved" && !seen.has(name) && seen.add(name) !== undefined;
  const ranked = versions.map((one) => ({ one, rank: one.status === "draft" ? 0 : isSent(one) ? 1 : 2 }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, maxVersions)
    .map(({ one }) => one);
};

export const readBulkState = async (sql: postgres.Sql): Promise<BulkState> => {
  const [choices, runs, versions] = await Promise.all([
    listBulkTemplates(sql),
    listBulkRuns(sql),
    listVersions(sql),
  ]);
  return { choices, runs, versions: selectVersions(versions) };
};
