import { findDisconnection } from "#lib/channels/platform-codes.ts";
import { type Html, html } from "#lib/html.ts";
import { tooOldSeconds } from "#lib/messenger/outbox/depth.ts";
import { adviceOf } from "../words/advice.ts";
import { quote, replayCommand } from "./runs-section.ts";
import { formatSeconds, formatTime, renderAge, renderTable, type View } from "./view.ts";

interface Alert {
  readonly name: string;
  readonly what: string;
  readonly since?: Date | undefined;
  readonly todo: string;
}

/** A connection that has just been lost, or a service that has just failed, is usually back within seconds. */
const maxFailureMs = 60_000;

const ofConnection = ({ state, words, now }: View): Alert[] => {
  if (!state?.leader) return [];
  const { kind, since: text, answer, retryAt, passkey } = state.connection;
  const { alerts } = words;
  const account = state.accounts.find(({ name }) => name === state.account);
  // of a connection that is tried again and again, the time of the last attempt says nothing
  const since = kind === "pairing" ? new Date(text) : (account?.downSince ?? new Date(text));
  const { says, operator } = adviceOf(words, answer);
  switch (kind) {
    case "pairing":
      if (passkey)
        return [{ name: "passkey", what: words.passkey.says, since, todo: words.passkey.operator }];
      return [{ name: "unlinked", ...alerts.unlinked, since }];
    case "stopped":
      return [{ name: "stopped", what: alerts.stopped(says, answer ?? 0), since, todo: operator }];
    case "replaced":
      return [{ name: "replaced", ...alerts.replaced, since }];
    case "rejected":
      return [{ name: "rejected", ...alerts.rejected(answer ?? 0), since }];
    case "open":
    case "usable":
      return [];
    default: {
      const { reaction } = findDisconnection(answer);
      if (kind === "closed" && reaction === "wait" && retryAt) {
        const what = alerts.banned(says, formatTime(new Date(retryAt), now, words));
        return [{ name: "banned", what, since, todo: operator }];
      }
      if (now.getTime() - since.getTime() < maxFailureMs) return [];
      if (kind === "unreachable") return [{ name: "unreachable", ...alerts.unreachable, since }];
      const todo = alerts.disconnected.todo(operator);
      return [{ name: "disconnected", what: alerts.disconnected.what(says), since, todo }];
    }
  }
};

/** Accounts that the page does not show: what their leader last stored. */
const ofOthers = ({ state, words: { alerts }, now }: View): Alert[] =>
  (state?.accounts ?? [])
    .filter(({ name, state: is }) => is === "active" && !(name === state?.account && state.leader))
    .flatMap(({ name, number, holdCode, downSince }) => {
      const alert = { name: `account-${name}`, since: downSince ?? undefined };
      if (number === null || holdCode !== null) return [{ ...alert, ...alerts.otherAccount(name) }];
      return downSince && now.getTime() - downSince.getTime() >= maxFailureMs
        ? [{ ...alert, ...alerts.otherUnreachable(name) }]
        : [];
    });

/** Of the platform: what stops all messages, then some. */
const ofLimits = ({ state, words, now }: View): Alert[] => {
  const { stoppedSeconds, pausedSeconds, outages = [] } = state?.limits ?? {};
  const { limited, tooFast, outage } = words.alerts;
  const alert = (name: string, of: typeof limited, seconds: number | undefined, since?: Date | null) => {
    if (seconds === undefined) return [];
    const what = of.what(formatTime(new Date(now.getTime() + seconds * 1_000), now, words));
    return [{ name, what, since: since ?? undefined, todo: of.todo }];
  };
  const failed = outages.flatMap(({ service, ageSeconds }): Alert[] => {
    const since = new Date(now.getTime() - ageSeconds * 1_000);
    if (now.getTime() - since.getTime() < maxFailureMs) return [];
    return [
      {
        name: `${service}Outage`,
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

const ofQueue = ({ state, words, now }: View): Alert[] => {
  const { oldest_seconds: oldest = 0, oldest_urgent_seconds: urgent = 0 } = state?.due ?? {};
  const alert = (name: "urgentOld" | "old", seconds: number): Alert => ({
    name,
    what: words.alerts[name].what(formatSeconds(seconds, words)),
    since: new Date(now.getTime() - seconds * 1_000),
    todo: words.alerts[name].todo,
  });
  if (urgent >= tooOldSeconds.urgent) return [alert("urgentOld", urgent)];
  return oldest >= tooOldSeconds.any ? [alert("old", oldest)] : [];
};

const ofJobs = ({ state, words: { alerts } }: View): Alert[] =>
  (state?.failedJobs ?? []).map(({ job, reason, scheduledAt, since }) => ({
    name: "job",
    what: alerts.job.what(job, reason ?? ""),
    since,
    todo: alerts.job.todo(replayCommand(job, scheduledAt)),
  }));

const ofReplies = ({ state, words: { alerts } }: View): Alert[] =>
  state?.unresolved
    ? [
        {
          name: "unresolved",
          what: alerts.unresolved.what(state.unresolved),
          since: state.unresolvedAt ?? undefined,
          todo: alerts.unresolved.todo,
        },
      ]
    : [];

/** A backend is restarted within this time. */
const callbackPatienceMs = 30 * 60_000;

const ofCallbacks = ({ state, words: { alerts }, now }: View): Alert[] =>
  (state?.callbacks ?? []).flatMap(({ id, host, sender, disabledAt, failures, redirects, oldest }) => {
    const name = `callback-${id}`;
    const quoted = quote(sender);
    if (disabledAt) {
      const { what, todo } = alerts.callback;
      return [{ name, what: what(host, sender), since: disabledAt, todo: todo(quoted) }];
    }
    const isLong = oldest !== null && now.getTime() - oldest.getTime() >= callbackPatienceMs;
    if (failures === 0 || !(redirects || isLong)) return [];
    const { what, todo } = redirects ? alerts.callbackRedirects : alerts.callbackFails;
    return [{ name, what: what(host, sender), since: oldest ?? undefined, todo: todo(quoted) }];
  });

/** Lists what is wrong, worst first: what stops all messages, then some, then those of a job. */
export const listAlerts = (view: View): Alert[] => {
  const { state, words } = view;
  const { alerts } = words;
  if (!state) return [{ name: "state", ...alerts.state }];
  return [
    ...(state.unread ? [{ name: state.unread, ...alerts[state.unread] }] : []),
    ...ofConnection(view),
    ...ofOthers(view),
    ...(state.paused ? [{ name: "paused", ...alerts.paused, since: state.pausedSince ?? undefined }] : []),
    ...ofQueue(view),
    ...ofLimits(view),
    ...ofReplies(view),
    ...ofCallbacks(view),
    ...ofJobs(view),
  ];
};

// explicit roles as in outbox-section.ts
const renderAlert = ({ name, what, since, todo }: Alert, { words, now }: View): Html => {
  const { columns, unknownSince } = words.alerts;
  return html`<tr role="row" data-alert="${name}">
<td role="cell"><strong>${what}</strong></td>
<td role="cell" data-label="${columns.since}">${since ? html`${formatTime(since, now, words)} · ${renderAge(since, now, words)}` : unknownSince}</td>
<td role="cell" data-label="${columns.todo}">${todo}</td>
</tr>`;
};

/** Renders what is wrong, since when, and what to do: the first that an operator sees. */
export const renderAlerts = (view: View): Html => {
  const { alerts } = view.words;
  const found = listAlerts(view);
  const isWell = found.length === 0;
  const well = view.state?.leader === false ? alerts.noneStandby : alerts.none;
  const rows = found.map((alert) => renderAlert(alert, view));
  return html`<section id="alerts" class="card ${isWell ? "well" : "ill"}" aria-labelledby="alerts-title">
<h2 id="alerts-title" class="unseen">${alerts.heading}</h2>
<p role="status" class="verdict">${isWell ? well : alerts.count(found.length)}</p>
${renderTable("alerts", alerts.columns, rows, "alerts")}
</section>`;
};
