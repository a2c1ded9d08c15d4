import { randomUUID } from "node:crypto";
import { findSetting } from "#lib/config.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { readPhone as readNumber } from "#lib/messaging/phone-reading.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import { previewJob, runJob } from "#lib/notification/job-run.ts";
import { findJob, type Job, jobs } from "#lib/notification/jobs.ts";
import { setPreference } from "#lib/notification/opt-out.ts";
import type { Decision } from "#lib/notification/pipeline.ts";
import { listMissed } from "#lib/notification/recipient.ts";
import { listFailedRequests, requestNotification } from "#lib/notification/request.ts";
import { countStates, listRuns, nameOutcome, outcomes, type Run, RunError } from "#lib/notification/run.ts";
import { listRules } from "#lib/notification/template.ts";
import { resolveTemplate } from "#lib/notification/template-version.ts";
import { getTemplate, type TemplateName, templates } from "#lib/notification/templates.ts";
import { timerOf } from "../../local/job-schedule.ts";
import { CommandError, exitCodes, type Reply, WrongCall } from "../command.ts";
import { formatTable, formatTime } from "../output.ts";
import { noun } from "../stage.ts";
import { withNotifier } from "./notifier.ts";

const minuteMs = 60_000;
const maxRuns = 5;

const jobNames = jobs.map(({ name }) => name).join(", ");
const templateNames = Object.keys(templates) as TemplateName[];

const readJob = (name: string): Job => {
  const job = findJob(name);
  if (!job) throw new WrongCall(`Unknown job: ${name}. Use ${jobNames}.`);
  return job;
};

const readTime = (text: string): Date => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!isTime || Number.isNaN(Date.parse(text)))
    throw new WrongCall(`--at must be a time with time zone, such as 2030-01-31T08:00+07:00, not ${text}`);
  return new Date(text);
};

const readPhone = (text: string): string => {
  const read = readNumber(text);
  if ("problem" in read) throw new WrongCall(read.problem);
  return read.phone;
};

interface NamedTemplate {
  readonly name: string;
  readonly rules: Readonly<Record<string, string>>;
}

const readTemplate = async ({ sql }: NotifyContext, name: string): Promise<NamedTemplate> => {
  const template = await resolveTemplate(sql, name);
  if (!template) throw new WrongCall(`Unknown template: ${name}. Use ${templateNames.join(", ")}.`);
  return { name, rules: listRules(template) };
};

const formatRules = ({ name, rules }: NamedTemplate): string =>
  `${name}: ${Object.entries(rules)
    .map(([value, rule]) => `${value} (${rule})`)
    .join(", ")}`;

/** @throws WrongCall for a value that the template does not have. */
const readValues = (pairs: readonly string[], template: NamedTemplate): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new WrongCall(`Expected key=value, not ${pair}. The values of ${formatRules(template)}`);
      if (!Object.hasOwn(template.rules, name))
        throw new WrongCall(`Unknown value: ${name}. The values of ${formatRules(template)}`);
      return [name, value];
    }),
  );

/** Recipients that are listed with the reason why they were not reached. */
const maxMissed = 100;

const describeRun = (run: Run) => {
  const counts = outcomes.map((outcome) => `${run[outcome]} ${nameOutcome(outcome)}`).join(", ");
  const reason = run.reason === null ? "" : `: ${run.reason}`;
  return `${run.job} at ${run.scheduledAt.toISOString()}  ${run.state}${reason}\n  recipients: ${counts}`;
};

/** Shows a run with its messages by state, and whom it has not reached. */
const showRun = async ({ sql }: NotifyContext, run: Run): Promise<Reply> => {
  const [states, missed] = await Promise.all([countStates(sql, run.id), listMissed(sql, run.id, maxMissed)]);
  const more = run.refused + run.expired - missed.length;
  const lines = [
    describeRun(run),
    ...(states.length > 0
      ? [`  messages: ${states.map(({ state, count }) => `${count} ${state}`).join(", ")}`]
      : []),
    ...missed.map(
      ({ key, outcome, reason }) => `  ${key || "(no key)"}  ${nameOutcome(outcome)}: ${reason ?? ""}`,
    ),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
  const code = run.refused + run.expired > 0 ? exitCodes.partly : exitCodes.done;
  return { text: lines.join("\n"), json: { ...run, messages: states, missed }, code };
};

const listJobs = (): Reply => {
  const timeZone = findSetting("TIME_ZONE");
  const list = jobs.map((job) => ({ ...job, timeZone, nextRun: timerOf(job).nextRun() }));
  const rows = list.map(({ name, schedule, nextRun, summary }) => [
    name,
    schedule,
    timeZone,
    formatTime(nextRun),
    summary,
  ]);
  return {
    text: formatTable(["job", "schedule", "time zone", "next run", "description"], rows),
    json: { jobs: list },
  };
};

const describeDecision = ({ key, phone, draft, outcome, reason }: Decision) => ({
  key: key || "(no key)",
  phone: phone === null ? "-" : maskPhone(phone),
  outcome: draft ? "would be sent" : `${nameOutcome(outcome ?? "")}${reason ? `: ${reason}` : ""}`,
  ...(draft?.text && { text: draft.text }),
});

const preview = async (job: Job, at: Date): Promise<Reply> => {
  const recipients: ReturnType<typeof describeDecision>[] = [];
  let messages = 0;
  await withNotifier((context) =>
    previewJob(context, job, at, (decisions) => {
      recipients.push(...decisions.map(describeDecision));
      messages += decisions.filter(({ draft }) => draft).length;
    }),
  );
  const lines = recipients.map(
    ({ key, phone, outcome, text }) =>
      `${key}  ${phone}  ${outcome}${text ? `\n${text.replace(/^/gm, "    ")}` : ""}`,
  );
  const skipped = recipients.length - messages;
  lines.push(`Dry run: ${messages} would be sent, ${skipped} would not. Nothing was sent.`);
  return { text: lines.join("\n"), json: { recipients, messages, skipped } };
};

const joinRuns = (runs: readonly Reply[], none: string): Reply => ({
  text: runs.length > 0 ? runs.map(({ text }) => text).join("\n") : none,
  json: { runs: runs.map(({ json }) => json) },
  code: Math.max(...runs.map(({ code = exitCodes.done }) => code), exitCodes.done),
});

const execute = async (context: NotifyContext, job: Job, at: Date): Promise<Reply> => {
  const input = { job: job.name, scheduled_time: at.toISOString() };
  const run = await runJob(context, input).catch((error: unknown) => {
    if (error instanceof RunError) throw new CommandError(`${job.name} failed: ${error.message}`);
    throw error;
  });
  return showRun(context, run);
};

const runNow = (job: Job, at: Date): Promise<Reply> => {
  if (at.getTime() > Date.now())
    throw new WrongCall(`${at.toISOString()} is in the future. Preview it with --dry-run.`);
  return withNotifier((context) => execute(context, job, at));
};

const isUnfinished = ({ state, refused, expired }: Run) => state !== "done" || refused + expired > 0;

const replay = (job: Job, at: Date | undefined): Promise<Reply> =>
  withNotifier(async (context) => {
    if (at) return execute(context, job, at);
    const maxAgeMs = getTemplate(job.template).expiresInMinutes * minuteMs;
    const runs = (await listRuns(context.sql, job.name, 1_000)).filter(
      (run) => isUnfinished(run) && run.scheduledAt.getTime() > Date.now() - maxAgeMs,
    );
    const replies: Reply[] = [];
    for (const run of runs.reverse()) replies.push(await execute(context, job, run.scheduledAt));
    return joinRuns(replies, `No failed runs of ${job.name} can be replayed. Nothing to do.`);
  });

const reportRuns = (job: Job, at: Date | undefined): Promise<Reply> =>
  withNotifier(async (context) => {
    const runs = await listRuns(context.sql, job.name, at ? 10_000 : maxRuns);
    const wanted = at ? runs.filter(({ scheduledAt }) => scheduledAt.getTime() === at.getTime()) : runs;
    if (wanted.length === 0)
      throw new CommandError(`No run of ${job.name} ${at ? `at ${at.toISOString()}` : "yet"}`);
    const replies: Reply[] = [];
    for (const run of wanted) replies.push(await showRun(context, run));
    return { ...joinRuns(replies, ""), code: exitCodes.done };
  });

const reportRequests = (at: Date | undefined): Promise<Reply> => {
  if (at) throw new WrongCall("--at is for a job. Requests are not scheduled");
  return withNotifier(async (context) => {
    const requests = await listFailedRequests(context, maxMissed);
    const rows = requests.map(({ changedAt, id, template, outcome, reason }) => [
      formatTime(changedAt),
      id,
      template,
      nameOutcome(outcome),
      reason ?? "",
    ]);
    const header = ["time", "request", "template", "outcome", "reason"];
    return {
      text: rows.length > 0 ? formatTable(header, rows) : "No failed requests. Nothing to do.",
      json: { requests: [...requests] },
    };
  });
};

const send = (name: string, phone: string, pairs: readonly string[], id: string): Promise<Reply> =>
  withNotifier(async (context) => {
    const template = await readTemplate(context, name);
    const values = readValues(pairs, template);
    const request = { id, template: template.name, phone, values, requestedAt: new Date() };
    const { outcome, reason, messageId } = await requestNotification(context, request);
    if (outcome === "refused")
      throw new CommandError(`rejected: ${reason}. The values of ${formatRules(template)}`);
    if (outcome !== "accepted")
      throw new CommandError(
        `${outcome.replace("_", " ")}: ${reason ?? "this number has opted out of reminders"}`,
      );
    const text = messageId ? `Accepted as message ${messageId}` : "Accepted by an earlier request.";
    return { text, json: { id, messageId: messageId ?? null } };
  });

const setOptOut = (phone: string, undo: boolean): Promise<Reply> =>
  withNotifier(async ({ sql, pepper }) => {
    const changed = await sql.begin((tx) => setPreference(tx, pepper, phone, undo ? "in" : "out"));
    const text = `${maskPhone(phone)}: reminders ${undo ? "on" : "off"}${changed ? "" : " (unchanged)"}`;
    return { text, json: { phone: maskPhone(phone), reminders: undo, changed } };
  });

const onJob = "a job as in `jobs`";
const atTime = "a scheduled time with its time zone, such as 2030-01-31T08:00+07:00";

export const run = noun("notify", "Run, report and replay notification jobs.", (program, answer) => {
  program.command("jobs").description("list the jobs and their next run").action(answer(listJobs));
  program
    .command("run")
    .description(
      "run a job now, or for a scheduled time; repeated for the same time, it notifies no one twice",
    )
    .argument("<job>", onJob, readJob)
    .option("--at <time>", atTime, readTime)
    .option("--dry-run", "show whom it would notify, with masked names and numbers, and send nothing")
    .action(
      answer((job, { at, dryRun }) =>
        (dryRun ? preview : runNow)(job, at ?? new Date(Math.floor(Date.now() / minuteMs) * minuteMs)),
      ),
    );
  program
    .command("report")
    .description("show the last runs of a job, or failed requests, and who was not reached")
    .argument("<job|requests>", `${onJob}, or the word requests`)
    .option("--at <time>", atTime, readTime)
    .action(
      answer((name, { at }) => (name === "requests" ? reportRequests(at) : reportRuns(readJob(name), at))),
    );
  program
    .command("replay")
    .description(
      "retry recipients who were not reached, by default in all runs whose messages have not expired",
    )
    .argument("<job>", onJob, readJob)
    .option("--at <time>", atTime, readTime)
    .action(answer((job, { at }) => replay(job, at)));
  program
    .command("send")
    .description("send one notification")
    .argument("<template>", "a template, see below")
    .argument("<phone>", "number with country code: 6281234567890", readPhone)
    .argument("[key=value...]", "values of the template")
    .option("--id <id>", "send it once per ID")
    .addHelpText(
      "after",
      `\nTemplates and their values, besides those in the database:\n${templateNames
        .map((name) => `  ${formatRules({ name, rules: listRules(getTemplate(name)) })}`)
        .join("\n")}`,
    )
    .action(answer((template, phone, pairs, { id = randomUUID() }) => send(template, phone, pairs, id)));
  program
    .command("opt-out")
    .description("stop reminders to a number")
    .argument("<phone>", "number with country code: 6281234567890", readPhone)
    .option("--undo", "send reminders again")
    .action(answer((phone, { undo = false }) => setOptOut(phone, undo)));
});
