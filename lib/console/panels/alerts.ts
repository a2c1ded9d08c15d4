import { findRejection } from "#lib/channels/codes.ts";
import { findSetting } from "#lib/config.ts";
import { type Html, html } from "#lib/html.ts";
import type { AccountSummary } from "#lib/messenger/account/account-admin.ts";
import { tooOldSeconds } from "#lib/messenger/outbox/depth.ts";
import { quoteWord } from "#lib/shell-word.ts";
import type { ConsoleState } from "../state.ts";
import { formatSeconds, formatTime, hiddenUnless, renderAge, renderTable, type View } from "../view.ts";
import { type Say, translate } from "../words.ts";
import { replayCommand } from "./runs.ts";
import { adviceOf, findCondition, maxFailureMs, tones } from "./status.ts";

interface Problem {
  readonly kind: keyof typeof details;
  /** The account or the callback that it is about, if there may be several. */
  readonly of?: string | number;
  readonly what: string;
  readonly since?: Date | undefined;
  readonly todo: string;
}

interface Alert extends Problem {
  /** The kind, with what it is about. */
  readonly name: string;
  /** What citizens notice. */
  readonly effect: string;
  /** The page and section of the documentation about it. */
  readonly guide: string;
}

/** What citizens notice of each problem, and the section of the runbook about it. */
const details = {
  state: ["unknown", "messenger-silent"],
  unavailable: ["nothingAccepted", "database-down"],
  slow: ["none", "database-busy"],
  pairing: ["nothingSent", "phone-unlinked"],
  unlinked: ["nothingSent", "phone-unlinked"],
  passkey: ["nothingSent", "passkey-required"],
  replaced: ["nothingSent", "messenger-disconnected"],
  disconnected: ["nothingSent", "messenger-disconnected"],
  stopped: ["nothingSent", "login-rejected"],
  banned: ["nothingSent", "login-rejected"],
  unreachable: ["nothingSent", "channel-rejected-or-unreachable"],
  rejected: ["nothingSent", "channel-rejected-or-unreachable"],
  account: ["oneAccount", "messenger-disconnected"],
  held: ["oneAccount", "login-rejected"],
  paused: ["nothingSent", "sending-paused"],
  tooFast: ["nothingSent", "number-limited"],
  limited: ["newContacts", "number-limited"],
  directoryOutage: ["staleNumbers", "sends-fail"],
  mediaOutage: ["media", "sends-fail"],
  urgentOld: ["late", "queue-old"],
  old: ["late", "queue-old"],
  failing: ["someFail", "sends-fail"],
  unresolved: ["unwanted", "opt-out-without-a-number"],
  callback: ["backends", "callbacks-wait"],
  job: ["reminders", "dead-letters"],
} as const;

const addDetails = (problem: Problem, { state, say }: View): Alert => {
  const { kind, of } = problem;
  const [effect, section] = details[kind];
  const isShared = kind in tones && (state?.accounts ?? []).length > 1;
  return {
    ...problem,
    name: of === undefined ? kind : `${kind}-${of}`,
    effect: say(`alerts.effects.${isShared ? "oneAccount" : effect}`),
    guide: `runbook#${section}`,
  };
};

const ofConnection = (view: View): Problem[] => {
  const { name: kind, tone, what, todo = "", since } = findCondition(view);
  return tone === "bad" && kind in details ? [{ kind: kind as Problem["kind"], what, todo, since }] : [];
};

const ofOther = (
  { name, number, holdCode, downSince, limitedUntil }: AccountSummary,
  { say, now, language }: View,
): Problem[] => {
  const common = { of: name, since: downSince ?? undefined };
  if (holdCode !== null) {
    const { says, operator } = adviceOf({ answer: holdCode }, language);
    const what = say("alerts.held.what", { name, says, code: holdCode });
    return [{ ...common, kind: "held", what, todo: operator }];
  }
  if (number === null) {
    const what = say("alerts.otherAccount.what", { name });
    return [{ ...common, kind: "account", what, todo: say("alerts.otherAccount.todo") }];
  }
  if (downSince && now.getTime() - downSince.getTime() >= maxFailureMs) {
    const what = say("alerts.otherUnreachable.what", { name });
    return [{ ...common, kind: "account", what, todo: say("alerts.otherUnreachable.todo") }];
  }
  if (!limitedUntil || limitedUntil <= now) return [];
  const what = `${name}: ${say("alerts.limited.what", { end: formatTime(limitedUntil, now, say) })}`;
  return [{ of: name, kind: "limited", what, todo: say("alerts.limited.todo") }];
};

/** Accounts that the page does not show: what their leader last stored. */
const ofOthers = (view: View): Problem[] =>
  (view.state?.accounts ?? [])
    .filter(({ name, state }) => state === "active" && !(name === view.state?.account && view.state.leader))
    .flatMap((account) => ofOther(account, view));

/** Of the platform: what stops all messages, then some. */
const ofLimits = ({ state, say, now, language }: View): Problem[] => {
  const { stoppedSeconds, pausedSeconds, outages = [] } = state?.limits ?? {};
  const alert = (kind: "tooFast" | "limited", todo: string, seconds?: number, since?: Date | null) => {
    if (seconds === undefined) return [];
    const end = formatTime(new Date(now.getTime() + seconds * 1_000), now, say);
    return [{ kind, what: say(`alerts.${kind}.what`, { end }), since: since ?? undefined, todo }];
  };
  const failed = outages.flatMap(({ service, ageSeconds }): Problem[] => {
    const since = new Date(now.getTime() - ageSeconds * 1_000);
    if (now.getTime() - since.getTime() < maxFailureMs) return [];
    const what = say("alerts.outage.what", { service: say(`status.outages.${service}`) });
    return [{ kind: `${service}Outage`, what, since, todo: say("alerts.outage.todo") }];
  });
  const slower = translate(findRejection("whatsapp", "429").operator, language);
  return [
    ...alert("tooFast", slower, stoppedSeconds, state?.stoppedSince),
    ...alert("limited", say("alerts.limited.todo"), pausedSeconds, state?.limitedSince),
    ...failed,
  ];
};

const ofQueue = ({ state, say, now }: View): Problem[] => {
  const { oldest_seconds: oldest = 0, oldest_urgent_seconds: urgent = 0 } = state?.due ?? {};
  const alert = (kind: "urgentOld" | "old", seconds: number): Problem => ({
    kind,
    what: say(`alerts.${kind}.what`, { age: formatSeconds(seconds, say) }),
    since: new Date(now.getTime() - seconds * 1_000),
    todo: say(`alerts.${kind}.todo`),
  });
  if (urgent >= tooOldSeconds.urgent) return [alert("urgentOld", urgent)];
  return oldest >= tooOldSeconds.any ? [alert("old", oldest)] : [];
};

const ofJobs = ({ state, say }: View): Problem[] =>
  (state?.failedJobs ?? []).map(({ job, reason, scheduledAt, since }) => ({
    kind: "job",
    what: say("alerts.job.what", { job, reason: reason ?? "" }),
    since,
    todo: say("alerts.job.todo", { command: replayCommand(job, scheduledAt) }),
  }));

const ofReplies = ({ state, say }: View): Problem[] =>
  state?.unresolved
    ? [
        {
          kind: "unresolved",
          what: say("alerts.unresolved.what", { count: state.unresolved }),
          since: state.unresolvedAt ?? undefined,
          todo: say("alerts.unresolved.todo"),
        },
      ]
    : [];

/** A backend is restarted within this time. */
const callbackPatienceMs = 10 * 60_000;

const ofFailures = ({ state, say }: View): Problem[] => {
  const { failures } = state ?? {};
  if (!failures || failures.failed < 3 || failures.failed * 2 < failures.ended) return [];
  const { failed, ended, codes, senders, accounts, since } = failures;
  const list = (names: readonly string[]) => names.join(", ");
  const what = say("alerts.failing.what", {
    ...{ failed, of: ended, reasons: list(codes), senders: list(senders), accounts: list(accounts) },
  });
  return [{ kind: "failing", what, since, todo: say("alerts.failing.todo") }];
};

const ofCallbacks = ({ state, say, now }: View): Problem[] =>
  (state?.callbacks ?? []).flatMap(({ id, host, sender, disabledAt, failures, redirects, oldest }) => {
    const isLong = oldest !== null && now.getTime() - oldest.getTime() >= callbackPatienceMs;
    if (!disabledAt && (failures === 0 || !(redirects || isLong))) return [];
    const name = disabledAt ? "callback" : redirects ? "callbackRedirects" : "callbackFails";
    return [
      {
        kind: "callback",
        of: id,
        what: say(`alerts.${name}.what`, { host, sender }),
        since: disabledAt ?? oldest ?? undefined,
        todo: say(`alerts.${name}.todo`, { sender: quoteWord(sender) }),
      },
    ];
  });

const ofPause = ({ paused, pausedSince, pausedBy }: ConsoleState, say: Say): Problem[] => {
  const alert = { kind: "paused", since: pausedSince ?? undefined } as const;
  if (!paused) return [];
  if (pausedBy === null)
    return [{ ...alert, what: say("alerts.paused.what"), todo: say("alerts.paused.todo") }];
  const what = say("alerts.pausedBy.what", { name: pausedBy });
  return [{ ...alert, what, todo: say("alerts.pausedBy.todo", { name: pausedBy }) }];
};

const listProblems = (view: View): Problem[] => {
  const { state, say } = view;
  const problem = (kind: "state" | "unavailable" | "slow"): Problem => ({
    kind,
    what: say(`alerts.${kind}.what`),
    todo: say(`alerts.${kind}.todo`),
  });
  if (!state) return [problem("state")];
  return [
    ...(state.unread ? [problem(state.unread)] : []),
    ...ofConnection(view),
    ...ofOthers(view),
    ...ofPause(state, say),
    ...ofFailures(view),
    ...ofQueue(view),
    ...ofLimits(view),
    ...ofReplies(view),
    ...ofCallbacks(view),
    ...ofJobs(view),
  ];
};

/** Lists what is wrong, worst first: what stops all messages, then some, then those of a job. */
export const listAlerts = (view: View): Alert[] =>
  listProblems(view).map((problem) => addDetails(problem, view));

/** Renders where more is written: a link where the address of the documentation is known. */
const renderGuide = (guide: string, { language, say }: View): Html => {
  const address = findSetting("INTEGRATION_ADDRESS");
  if (!address) return html`${say("alerts.seeAlso")} <code>/docs/${guide}</code>`;
  const prefix = language === "en" ? "" : `${language}/`;
  return html`<a href="${address}/docs/${prefix}${guide}" target="_blank" rel="noreferrer">${say("alerts.more")}</a>`;
};

// explicit roles as in messages.ts
const renderAlert = ({ name, what, since, effect, todo, guide }: Alert, view: View): Html => {
  const { say, now } = view;
  return html`<tr role="row" data-alert="${name}">
<td role="cell"><strong>${what}</strong></td>
<td role="cell" data-label="${say("alerts.columns.since")}">${since ? html`${formatTime(since, now, say)} · ${renderAge(since, now, say)}` : "–"}</td>
<td role="cell" data-label="${say("alerts.columns.effect")}">${effect}</td>
<td role="cell" data-label="${say("alerts.columns.todo")}">${todo} ${renderGuide(guide, view)}</td>
</tr>`;
};

/**
 * Renders what is wrong, since when, and what to do: the first that an operator sees.
 *
 * @param isFirst of the first page, which says also that nothing is wrong.
 */
export const renderAlerts = (view: View, isFirst: boolean): Html => {
  const { say } = view;
  const found = listAlerts(view);
  const { tone, what } = findCondition(view);
  const isWaiting = found.length === 0 && tone === "waiting";
  const isWell = found.length === 0 && !isWaiting;
  const well = say(view.state?.leader === false ? "alerts.noneStandby" : "alerts.none");
  const wrong = isWaiting ? `${say("alerts.waiting")} ${what}` : say("alerts.count", { count: found.length });
  const verdict = isWell ? well : wrong;
  const rows = found.map((alert) => renderAlert(alert, view));
  return html`<div id="warnings"${hiddenUnless(isFirst || found.length > 0)}><section id="alerts" class="card ${isWaiting ? "unsettled" : isWell ? "well" : "ill"}" aria-labelledby="alerts-title">
<h2 id="alerts-title" class="unseen">${say("alerts.heading")}</h2>
<p role="status" class="verdict">${verdict}</p>
${renderTable("alerts", say, rows, "alerts")}
</section></div>`;
};
