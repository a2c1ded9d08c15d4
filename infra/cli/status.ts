import { setTimeout } from "node:timers/promises";
import { CloudWatchClient, paginateDescribeAlarms } from "@aws-sdk/client-cloudwatch";
import type postgres from "postgres";
import { listAlerts } from "#lib/console/panels/alerts.ts";
import { type ConsoleState, readConsoleState } from "#lib/console/state.ts";
import { formatSeconds, type View } from "#lib/console/view.ts";
import { languages } from "#lib/console/words.ts";
import { isDatabaseUp } from "#lib/db/outage.ts";
import type { AccountSummary } from "#lib/messenger/account/account-admin.ts";
import { exitCodes, type Reply } from "./command.ts";
import { formatTable, formatTime } from "./output.ts";
import { findStage, noun, withConnection } from "./stage.ts";

const say = languages.en;

interface Problem {
  readonly what: string;
  readonly since?: Date | undefined;
  /** What citizens notice, and where more is written; an alarm's text says both. */
  readonly effect?: string;
  readonly guide?: string;
  readonly todo: string;
}

const hangMs = 2_000;

/**
 * Reads what the tasks have stored: a command is none of them, and leads no account.
 *
 * @throws the error of a database that cannot be reached; of one that hangs, the state says that it is unavailable.
 */
const readState = async (sql: postgres.Sql): Promise<ConsoleState> => {
  const state = await readConsoleState(sql, {
    own: {
      connection: { kind: "closed", since: new Date().toISOString() },
      leader: false,
      jobs: [],
    },
    filter: {},
    isDatabaseUp: () => isDatabaseUp(sql),
    explain: async () => new Map(),
  });
  if (state.unread) await Promise.race([sql`select 1`, setTimeout(hangMs, undefined, { ref: false })]);
  return state;
};

/** The stage's alarms that ring now. */
const listAlarms = async (stage: string): Promise<Problem[]> => {
  const client = new CloudWatchClient({});
  const ringing = { AlarmNamePrefix: `municipal-${stage}-`, StateValue: "ALARM" } as const;
  const alarms: Problem[] = [];
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, ringing))
    for (const { AlarmName, AlarmDescription = "", StateUpdatedTimestamp } of MetricAlarms)
      alarms.push({ what: `Alarm ${AlarmName}`, since: StateUpdatedTimestamp, todo: AlarmDescription });
  return alarms;
};

/** What the console cannot say, because a task shows it: that none leads an account. */
const listLeaderless = (stage: string | undefined, accounts: readonly AccountSummary[]): Problem[] => {
  const active = accounts.filter(({ state }) => state === "active");
  const leaderless = active.filter(({ isLed }) => !isLed);
  const common = {
    guide: "runbook#messenger-silent",
    todo:
      stage === undefined
        ? "Is npm run dev running? Its terminal says when its messenger has ended."
        : "Another task takes over within seconds. If this stays, restart the service.",
  };
  if (leaderless.length > 0 && leaderless.length === active.length)
    return [{ what: "No messenger is running.", effect: say("alerts.effects.nothingAccepted"), ...common }];
  return leaderless.map(({ name }) => ({
    what: `No messenger sends for the account ${name}.`,
    effect: say("alerts.effects.oneAccount"),
    ...common,
  }));
};

const describeConnection = ({ number, holdCode, downSince, isLed }: AccountSummary): string => {
  if (!isLed) return "no messenger";
  if (holdCode !== null) return say("accounts.held", { code: holdCode });
  if (number === null) return say("accounts.unlinked");
  return downSince ? `down since ${formatTime(downSince)}` : "up";
};

const describeAccounts = ({ accounts }: ConsoleState): string =>
  formatTable(
    ["account", "channel", "state", "number", "connection", "waiting"],
    accounts.map((account) => [
      account.name,
      account.channel,
      account.state,
      account.number ?? "-",
      describeConnection(account),
      String(account.waiting),
    ]),
  );

const describeQueue = ({ unread, due, failures, callbacks, paused }: ConsoleState): string => {
  if (unread) return "Sending, queue, callbacks and accounts: unknown";
  const { pending = 0, sending = 0, oldest_seconds: oldest = 0 } = due ?? {};
  const { failed = 0, ended = 0, codes = [] } = failures ?? {};
  const waiting = callbacks.reduce((sum, { waiting }) => sum + waiting, 0);
  return [
    `Sending: ${paused ? "paused" : "on"}`,
    `Due now: ${pending} waiting, ${sending} being sent${oldest > 0 ? `; the oldest since ${formatSeconds(oldest, say)}` : ""}`,
    `Last ${ended} that ended: ${failed} failed${codes.length > 0 ? ` (${codes.join(", ")})` : ""}`,
    `Callbacks: ${waiting} waiting`,
  ].join("\n");
};

const describeProblem = ({ what, since, effect, todo, guide }: Problem): string =>
  [
    `- ${what}${since ? ` Since ${formatTime(since)}.` : ""}`,
    effect && `  ${say("alerts.columns.effect")}: ${effect}`,
    `  ${todo}`,
    guide && `  ${say("alerts.seeAlso")} /docs/${guide}`,
  ]
    .filter(Boolean)
    .join("\n");

const show = async (): Promise<Reply> => {
  const stage = findStage();
  const state = await withConnection("console", readState, { max: 2 });
  const operator = { id: "status", name: "status", role: "viewer" as const };
  const view: View = {
    operator,
    state,
    filter: {},
    notice: undefined,
    now: new Date(),
    language: "en",
    say,
  };
  const problems: Problem[] = [
    ...listLeaderless(stage, state.accounts),
    ...listAlerts(view).map(({ name: _, ...problem }) => problem),
    ...(stage === undefined ? [] : await listAlarms(stage)),
  ];
  const { paused, due, accounts, failures, callbacks } = state;
  const lost = accounts.filter(({ state, downSince }) => state === "active" && downSince);
  const well =
    lost.length === 0
      ? say("alerts.none")
      : `${say("alerts.waiting")} Reconnecting for less than a minute: ${lost.map(({ name }) => name).join(", ")}.`;
  const verdict = problems.length === 0 ? well : say("alerts.count", { count: problems.length });
  return {
    text: [
      `${verdict}${problems.length === 0 ? "" : " What to do is done in the console."}`,
      ...problems.map(describeProblem),
      "",
      describeQueue(state),
      "",
      describeAccounts(state),
    ].join("\n"),
    json: { problems, paused, due, failures, accounts, callbacks },
    code: problems.length === 0 ? exitCodes.done : exitCodes.failed,
  };
};

export const run = noun(
  "status",
  "shows whether messages go out, what is wrong, since when, and what to do. Exit code 1: something needs a person",
  (program, answer) => {
    program.action(answer(show));
  },
);
