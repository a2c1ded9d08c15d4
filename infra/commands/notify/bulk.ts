import { createReadStream } from "node:fs";
import { Option } from "@commander-js/extra-typings";
import { Fault } from "#lib/faults/fault.ts";
import { HeaderError } from "#lib/import/file.ts";
import { BulkName } from "#lib/messaging/submission.ts";
import { type BulkPreview, maxBulkDays, previewBulk, readBulk, sendBulk } from "#lib/notification/bulk.ts";
import type { Bulk } from "#lib/notification/bulk-decision.ts";
import { formatReport, reportBulkRun } from "#lib/notification/bulk-report.ts";
import { bulkName, findBulkRun, listBulkRuns } from "#lib/notification/bulk-run.ts";
import { bulkClasses, findBulkTemplate } from "#lib/notification/bulk-template.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import { RunError } from "#lib/notification/dispatch.ts";
import type { Run } from "#lib/notification/run.ts";
import { CommandError, type Define, exitCodes, getSize, type Reply, WrongCall } from "../command.ts";
import { formatTable, formatTime } from "../listing.ts";
import { startProgress } from "../progress.ts";
import { withNotifier } from "./notifier.ts";
import { showRun } from "./shown-run.ts";

const maxRuns = 20;
const maxLines = 100;

const getTemplate = async ({ sql }: Pick<NotifyContext, "sql">, name: string): Promise<Bulk["template"]> => {
  const template = await findBulkTemplate(sql, name);
  if (template) return template;
  throw new WrongCall(`No template for bulk runs: ${name}. See: npm run notify -- send --help`);
};

const readFile = (file: string): string => {
  getSize(file);
  return file;
};

const readName = (name: string): string => {
  if (BulkName.safeParse(name).success) return name;
  throw new WrongCall(`The name of a run must be 1 to 80 lower-case letters, digits and dashes, not ${name}`);
};

/** Explains to the operator what is wrong with the file, the run or the messenger. */
const explained = <T>(name: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof HeaderError) throw new CommandError(error.message);
    if (error instanceof RunError) throw new CommandError(`${name} failed: ${error.message}`);
    if (error instanceof Fault)
      throw new CommandError(`The messenger did not answer (${error.code}). Try again.`);
    throw error;
  });

interface Options {
  readonly template: string;
  readonly class: Bulk["class"];
  readonly name?: string | undefined;
}

const openBulk = async (
  context: Pick<NotifyContext, "sql">,
  file: string,
  options: Options,
): Promise<Bulk> => {
  const template = await getTemplate(context, options.template);
  const reading = readBulk(createReadStream(file), { ...options, template });
  const { bulk, ignored } = await explained(file, reading);
  if (ignored.length > 0) console.error(`Ignored columns: ${ignored.join(", ")}`);
  return bulk;
};

const describeDays = (days: number): string => {
  if (days <= maxBulkDays) return `${days} ${days === 1 ? "day" : "days"} at the present budgets`;
  return `${days > 366 ? "more than a year" : `${days} days`} at the present budgets; at most ${maxBulkDays} days can be scheduled, so split the file`;
};

const showPreview = (shown: BulkPreview): Reply => {
  const { name, counts, days, messages, rejected } = shown;
  const lines = [
    ...Object.entries(counts).map(([outcome, count]) => `${String(count).padStart(7)}  ${outcome}`),
    ...messages.map(({ line, phone, text }) => `line ${line}  ${phone}\n${text.replace(/^/gm, "    ")}`),
    ...rejected
      .slice(0, maxLines)
      .map(({ line, phone, outcome, reason }) => `line ${line}  ${phone}  ${outcome}: ${reason}`),
    ...(rejected.length > maxLines ? [`… and ${rejected.length - maxLines} more`] : []),
    `Sending takes ${describeDays(days)}. Dry run of ${name}: nothing was sent.`,
  ];
  return { text: lines.join("\n"), json: shown };
};

const preview = (file: string, options: Options): Promise<Reply> =>
  withNotifier(async (context) => {
    const bulk = await openBulk(context, file, options);
    return showPreview(await explained(bulk.name, previewBulk(context, bulk)));
  });

const send = (file: string, options: Options): Promise<Reply> =>
  withNotifier(async (context) => {
    const bulk = await openBulk(context, file, options);
    const progress = startProgress(bulk.lines.length);
    const onProgress = (done: number, all: number) => progress.update(done, `${done} of ${all} handed over`);
    const sending = sendBulk(context, bulk, onProgress).finally(() => progress.stop());
    const { run, days } = await explained(bulk.name, sending);
    const shown = await showRun(context, run);
    const lines = [
      shown.text,
      ...(days > 0 ? [`Sending takes ${describeDays(days)}.`] : []),
      ...(run.refused > 0
        ? [
            `Correct the rejected lines and repeat the command with --name ${bulk.name}: the others get nothing again.`,
          ]
        : []),
    ];
    return { ...shown, text: lines.join("\n"), json: { name: bulk.name, days, ...(shown.json as object) } };
  });

const unknownRun = (name: string) =>
  new CommandError(`No bulk run ${name}. See: npm run notify -- bulk-status`);

const getRun = async ({ sql }: Pick<NotifyContext, "sql">, name: string): Promise<Run> => {
  const run = await findBulkRun(sql, name);
  if (!run) throw unknownRun(name);
  return run;
};

const showStatus = (name: string | undefined): Promise<Reply> =>
  withNotifier(async (context) => {
    if (name !== undefined)
      return { ...(await showRun(context, await getRun(context, name))), code: exitCodes.done };
    const runs = await listBulkRuns(context.sql, maxRuns);
    const rows = runs.map((run) => [
      bulkName(run),
      run.template ?? "",
      formatTime(run.startedAt),
      run.state,
      String(run.accepted),
      String(run.refused),
    ]);
    return {
      text: formatTable(["run", "template", "started", "state", "accepted", "rejected"], rows),
      json: { runs: [...runs] },
    };
  });

const cancel = (name: string): Promise<Reply> =>
  withNotifier(async (context) => {
    const cancelled = await explained(name, context.cancelRun(name));
    if (cancelled === undefined) throw unknownRun(name);
    return { text: `${cancelled} messages of ${name} were cancelled.`, json: { name, cancelled } };
  });

const report = (name: string): Promise<Reply> =>
  withNotifier(async (context) => {
    const lines = await reportBulkRun(context.sql, (await getRun(context, name)).id);
    return { text: formatReport(lines).trimEnd(), json: { lines } };
  });

const aRun = "the name of a bulk run";

/** Adds the commands for files of recipients. */
export const defineBulk: Define = (program, answer) => {
  program
    .command("bulk")
    .description(
      "send a template to a CSV file of recipients: the column phone, and one for each value of the template; repeated, it notifies no one twice",
    )
    .argument("<file>", "the CSV file", readFile)
    .requiredOption("--template <template>", "a template, as in `send --help`")
    .addOption(
      new Option("--class <class>", "whether opt-outs are respected, and the priority")
        .choices(bulkClasses)
        .default("bulk" as const),
    )
    .option("--name <name>", "continue the run with this name, or send the same file anew", readName)
    .option(
      "--dry-run",
      "count the recipients by outcome, show three messages and the days, and send nothing",
    )
    .action(answer((file, { dryRun, ...options }) => (dryRun ? preview : send)(file, options)));
  program
    .command("bulk-status")
    .description("show the progress of a bulk run, or the latest ones")
    .argument("[run]", aRun, readName)
    .action(answer((name) => showStatus(name)));
  program
    .command("bulk-cancel")
    .description("cancel the messages of a bulk run that wait")
    .argument("<run>", aRun, readName)
    .action(answer(cancel));
  program
    .command("bulk-report")
    .description("print what became of each line of the file, as CSV")
    .argument("<run>", aRun, readName)
    .action(answer(report));
};
