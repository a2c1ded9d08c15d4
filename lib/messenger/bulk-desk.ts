import type { Readable } from "node:stream";
import type postgres from "postgres";
import { type BulkDesk, type BulkWish, readBulkState } from "#lib/console/bulk-state.ts";
import { log } from "#lib/log.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { Batch, type Submission } from "#lib/messaging/submission.ts";
import { fingerprintOf, previewBulk, startBulk } from "#lib/notification/bulk.ts";
import { readBulk } from "#lib/notification/bulk-file.ts";
import { findBulkTemplate } from "#lib/notification/bulk-template.ts";
import type { BulkContext } from "#lib/notification/context.ts";
import { formatReport, reportBulkRun } from "#lib/notification/recipient.ts";
import { findBulkRun, RunError } from "#lib/notification/run.ts";
import { addVersion, approveVersion, retireVersion } from "#lib/notification/template-version.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";

export interface BulkDeskOptions {
  /** Connections that the sender never waits for. */
  readonly sql: postgres.Sql;
  /** For what the console shows, with the role that may only read that. */
  readonly consoleSql: postgres.Sql;
  /** Accepts messages as those of the jobs. @returns their ids */
  readonly acceptBatch: (submissions: readonly Submission[]) => Promise<string[]>;
  readonly plan: BulkContext["plan"];
  readonly findPepper: () => ReturnType<typeof digestTerm>;
  /** Aborted when the task stops: the run stops after its batch. */
  readonly signal: AbortSignal;
}

/** For the other holder of an Idempotency-Key. */
const maxWaitMs = 10_000;

const read = async (sql: postgres.Sql, file: Readable, { template: wanted, ...wish }: BulkWish) => {
  const template = await findBulkTemplate(sql, wanted);
  if (!template) throw new RunError(`there is no template ${wanted} for bulk runs`);
  return readBulk(file, { ...wish, template });
};

/** Opens what the console does with bulk runs and templates. */
export const openBulkDesk = (options: BulkDeskOptions): BulkDesk & { readonly stop: () => Promise<void> } => {
  const { sql, consoleSql, signal } = options;
  let working: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  /** Does one file after the other: the memory of the task has room for one. Its caller ends it. */
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isBusy) throw new RunError("this task works on another file; try again when that is handed over");
    isBusy = true;
    return work().catch((error: unknown) => {
      isBusy = false;
      throw error;
    });
  };
  const openContext = async (): Promise<BulkContext> => ({
    sql,
    submitBatch: (drafts: readonly Draft[]) =>
      options.acceptBatch(Batch.parse({ submissions: drafts }).submissions),
    plan: options.plan,
    pepper: await options.findPepper(),
    until: Number.POSITIVE_INFINITY,
    maxWaitMs,
  });
  const requireRunning = () => {
    if (signal.aborted)
      throw new RunError("the messenger was stopped; send the same file again with this name");
  };
  return {
    read: () => readBulkState(consoleSql),
    preview: (file, wish) =>
      alone(async () => {
        const { bulk, ignored } = await read(sql, file, wish);
        const preview = await previewBulk(await openContext(), bulk);
        isBusy = false;
        return { ...preview, fingerprint: fingerprintOf(bulk), ignored };
      }),
    start: (file, wish, fingerprint) =>
      alone(async () => {
        const { bulk } = await read(sql, file, wish);
        if (fingerprintOf(bulk) !== fingerprint)
          throw new RunError("this is not what the preview has shown; preview the file again");
        const { sent } = await startBulk(await openContext(), bulk, requireRunning);
        const run = bulk.name;
        working = sent
          .then(
            ({ accepted }) => log.info("bulk run handed over", { run, accepted }),
            (error: Error) => log.warn("bulk run failed", { run, reason: error.message }),
          )
          .finally(() => {
            isBusy = false;
          });
        return run;
      }),
    report: async (name) => {
      const run = await findBulkRun(consoleSql, name);
      return run && formatReport(await reportBulkRun(consoleSql, run.id));
    },
    addTemplate: (draft, author) => addVersion(sql, draft, author),
    approveTemplate: (name, version, approver) => approveVersion(sql, name, version, approver),
    retireTemplate: (name, version) => retireVersion(sql, name, version),
    stop: async () => {
      await working;
    },
  };
};
