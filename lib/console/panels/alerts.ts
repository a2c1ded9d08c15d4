import { findSetting } from "#lib/config.ts";
import { type Html, html } from "#lib/html.ts";
import { tooOldSeconds } from "#lib/messenger/outbox/depth.ts";
import { quoteWord } from "#lib/shell-word.ts";
import type { ConsoleState } from "../state.ts";
import { formatSeconds, formatTime, hiddenUnless, renderAge, renderTable, type View } from "../view.ts";
import type { Words } from "../words/en.ts";
import { replayCommand } from "./runs.ts";
import { findCondition, maxFailureMs } from "./status.ts";

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

type Effect = keyof Words["alerts"]["effects"];

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
} satisfies Record<string, readonly [Effect, string]>;

const addDetails = (problem: Problem, { state, words }: View): Alert => {
  const { kind, of } = problem;
  const [effect, section] = details[kind];
  const isShared = kind in words.conditions && (state?.accounts ?? []).length > 1;
  return {
    ...problem,
    name: of === undefined ? kind : `${kind}-${of}`,
    effect: words.alerts.effects[isShared ? "oneAccount" : effect],
    guide: `runbook#${section}`,
  };
};

const ofConnection = (view: View): Problem[] => {
  const { name: kind, tone, what, todo = "", since } = findCondition(view);
  return tone === "bad" && kind in details ? [{ kind: kind as Problem["kind"], what, todo, since }] : [];
};

/** Accounts that the page does not show: what their leader last stored. */
const ofOthers = ({ state, words: { alerts }, now }: View): Problem[] =>
  (state?.accounts ?? [])
    .filter(({ name, state: is }) => is === "active" && !(name === state?.account && state.leader))
    .flatMap(({ name, number, holdCode, downSince }) => {
      const alert = { kind: "account", of: name, since: downSince ?? undefined } as const;
      if (number === null || holdCode !== null) return [{ ...alert, ...alerts.otherAccount(name) }];
      return downSince && now.getTime() - downSince.getTime() >= maxFailureMs
        ? [{ ...alert, ...alerts.otherUnreachable(name) }]
        : [];
    });

/** Of the platform: what stops all messages, then some. */
const ofLimits = ({ state, words, now }: View): Problem[] => {
  const { stoppedSeconds, pausedSeconds, outages = [] } = state?.limits ?? {};
  const { limited, tooFast, outage } = words.alerts;
  const alert = (
    kind: Problem["kind"],
    of: typeof limited,
    seconds: number | undefined,
    since?: Date | null,
  ) => {
    if (seconds === undefined) return [];
    const what = of.what(formatTime(new Date(now.getTime() + seconds * 1_000), now, words));
    return [{ kind, what, since: since ?? undefined, todo: of.todo }];
  };
  const failed = outages.flatMap(({ service, ageSeconds }): Problem[] => {
    const since = new Date(now.getTime() - ageSeconds * 1_000);
    if (now.getTime() - since.getTime() < maxFailureMs) return [];
    return [
      {
        kind: `${service}Outage`,
        what: outage.what(words.status.outages[service]),
        since,
        todo: outage.todo,
      },
    ];
  });
  return [
    ...alert("tooFast", tooFast, stoppedSeconds, state?.stoppedSince),
    ...alert("limited", limited, pausedSeconds, state?.limitedSince),
    ...failed,
  ];
};

const ofQueue = ({ state, words, now }: View): Problem[] => {
  const { oldest_seconds: oldest = 0, oldest_urgent_seconds: urgent = 0 } = state?.due ?? {};
  const alert = (kind: "urgentOld" | "old", seconds: number): Problem => ({
    kind,
    what: words.alerts[kind].what(formatSeconds(seconds, words)),
    since: new Date(now.getTime() - seconds * 1_000),
    todo: words.alerts[kind].todo,
  });
  if (urgent >= tooOldSeconds.urgent) return [alert("urgentOld", urgent)];
  return oldest >= tooOldSeconds.any ? [alert("old", oldest)] : [];
};

const ofJobs = ({ state, words: { alerts } }: View): Problem[] =>
  (state?.failedJobs ?? []).map(({ job, reason, scheduledAt, since }) => ({
    kind: "job",
    what: alerts.job.what(job, reason ?? ""),
    since,
    todo: alerts.job.todo(replayCommand(job, scheduledAt)),
  }));

const ofReplies = ({ state, words: { alerts } }: View): Problem[] =>
  state?.unresolved
    ? [
        {
          kind: "unresolved",
          what: alerts.unresolved.what(state.unresolved),
          since: state.unresolvedAt ?? undefined,
          todo: alerts.unresolved.todo,
        },
      ]
    : [];

/** A backend is restarted within this time. */
const callbackPatienceMs = 10 * 60_000;

const ofFailures = ({ state, words: { alerts } }: View): Problem[] => {
  const { failures } = state ?? {};
  if (!failures || failures.failed < 3 || failures.failed * 2 < failures.ended) return [];
  const { failed, ended, codes, senders, accounts, since } = failures;
  const list = (names: readonly string[]) => names.join(", ");
  const what = alerts.failing.what(failed, ended, list(codes), list(senders), list(accounts));
  return [{ kind: "failing", what, since, todo: alerts.failing.todo }];
};

const ofCallbacks = ({ state, words: { alerts }, now }: View): Problem[] =>
  (state?.callbacks ?? []).flatMap(({ id, host, sender, disabledAt, failures, redirects, oldest }) => {
    const alert = { kind: "callback", of: id } as const;
    const quoted = quoteWord(sender);
    if (disabledAt) {
      const { what, todo } = alerts.callback;
      return [{ ...alert, what: what(host, sender), since: disabledAt, todo: todo(quoted) }];
    }
    const isLong = oldest !== null && now.getTime() - oldest.getTime() >= callbackPatienceMs;
    if (failures === 0 || !(redirects || isLong)) return [];
    const { what, todo } = redirects ? alerts.callbackRedirects : alerts.callbackFails;
    return [{ ...alert, what: what(host, sender), since: oldest ?? undefined, todo: todo(quoted) }];
  });

const ofPause = ({ paused, pausedSince, pausedBy }: ConsoleState, { alerts }: Words): Problem[] => {
  const { what, todo } = pausedBy === null ? alerts.paused : alerts.pausedBy(pausedBy);
  return paused ? [{ kind: "paused", what, todo, since: pausedSince ?? undefined }] : [];
};

const listProblems = (view: View): Problem[] => {
  const { state, words } = view;
  const { alerts } = words;
  if (!state) return [{ kind: "state", ...alerts.state }];
  return [
    ...(state.unread ? [{ kind: state.unread, ...alerts[state.unread] }] : []),
    ...ofConnection(view),
    ...ofOthers(view),
    ...ofPause(state, words),
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
const renderGuide = (guide: string, { language, words: { alerts } }: View): Html => {
  const address = findSetting("INTEGRATION_ADDRESS");
  if (!address) return html`${alerts.seeAlso} <code>/docs/${guide}</code>`;
  const prefix = language === "en" ? "" : `${language}/`;
  return html`<a href="${address}/docs/${prefix}${guide}" target="_blank" rel="noreferrer">${alerts.more}</a>`;
};

// explicit roles as in messages.ts
const renderAlert = ({ name, what, since, effect, todo, guide }: Alert, view: View): Html => {
  const { words, now } = view;
  const { columns } = words.alerts;
  return html`<tr role="row" data-alert="${name}">
<td role="cell"><strong>${what}</strong></td>
<td role="cell" data-label="${columns.since}">${since ? html`${formatTime(since, now, words)} · ${renderAge(since, now, words)}` : "–"}</td>
<td role="cell" data-label="${columns.effect}">${effect}</td>
<td role="cell" data-label="${columns.todo}">${todo} ${renderGuide(guide, view)}</td>
</tr>`;
};

/**
 * Renders what is wrong, since when, and what to do: the first that an operator sees.
 *
 * @param isFirst of the first page, which says also that nothing is wrong.
 */
export const renderAlerts = (view: View, isFirst: boolean): Html => {
  const { alerts } = view.words;
  const found = listAlerts(view);
  const { tone, what } = findCondition(view);
  const isWaiting = found.length === 0 && tone === "waiting";
  const isWell = found.length === 0 && !isWaiting;
  const well = view.state?.leader === false ? alerts.noneStandby : alerts.none;
  const verdict = isWaiting ? `${alerts.waiting} ${what}` : isWell ? well : alerts.count(found.length);
  const rows = found.map((alert) => renderAlert(alert, view));
  return html`<div id="warnings"${hiddenUnless(isFirst || found.length > 0)}><section id="alerts" class="card ${isWaiting ? "unsettled" : isWell ? "well" : "ill"}" aria-labelledby="alerts-title">
<h2 id="alerts-title" class="unseen">${alerts.heading}</h2>
<p role="status" class="verdict">${verdict}</p>
${renderTable("alerts", alerts.columns, rows, "alerts")}
</section></div>`;
};
