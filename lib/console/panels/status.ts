import { findDisconnection, passkeyRequired, unscanned } from "#lib/channels/whatsapp/codes.ts";
import { type Html, html } from "#lib/html.ts";
import type { Connection } from "../state.ts";
import { disabledUnless, formatSeconds, formatTime, hiddenUnless, may, pathOf, type View } from "../view.ts";
import { type Language, sayIfKnown, translate } from "../words.ts";

/** `bad`: somebody has to know. `waiting`: usually over within a minute. `neutral`: this task cannot say. */
type Tone = "good" | "waiting" | "bad" | "neutral";

/** What is so with the connection of the account that is shown: the banner, the card and the alerts say the same of it. */
export interface Condition {
  readonly name: Name;
  readonly tone: Tone;
  readonly what: string;
  /** Absent where nothing is to be done. */
  readonly todo?: string | undefined;
  readonly since?: Date | undefined;
}

/** A connection that has just been lost, or a service that has just failed, is usually back within seconds. */
export const maxFailureMs = 60_000;

export const tones = {
  open: "good",
  usable: "good",
  connecting: "waiting",
  pairing: "bad",
  passkey: "bad",
  replaced: "bad",
  unlinked: "bad",
  stopped: "bad",
  banned: "bad",
  disconnected: "bad",
  unreachable: "bad",
  rejected: "bad",
  standby: "neutral",
  leaderless: "neutral",
  unknown: "neutral",
} satisfies Record<string, Tone>;

type Name = keyof typeof tones;

const findName = ({ state, now }: View, since: Date): Name => {
  if (!state) return "unknown";
  if (!state.leader) return state.unread === "unavailable" ? "leaderless" : "standby";
  const { kind, answer, retryAt, passkey } = state.connection;
  const { reaction } = findDisconnection(answer);
  switch (kind) {
    case "pairing":
      return passkey ? "passkey" : "pairing";
    case "stopped":
      return answer === 401 ? "unlinked" : "stopped";
    case "closed":
    case "connecting":
    case "unreachable":
      if (kind === "closed" && retryAt && reaction === "wait") return "banned";
      // nothing will have changed after seconds
      if (reaction !== "retry-slowly" && now.getTime() - since.getTime() < maxFailureMs) return "connecting";
      return kind === "unreachable" ? "unreachable" : "disconnected";
    default:
      return kind;
  }
};

/** When the next attempt is, of a connection that waits for it. */
const sayRetry = ({ state, now, say }: View): string => {
  const seconds = (Date.parse(state?.connection.retryAt ?? "") - now.getTime()) / 1_000;
  return seconds > 0
    ? say("status.nextAttempt", { time: formatSeconds(seconds, say) })
    : say("status.attempting");
};

/** What a code of the platform for a connection or a login says, and what to do. */
export const adviceOf = (
  { answer, unlinked, passkey }: Partial<Connection> = {},
  language: Language,
): { says: string; operator: string } => {
  const row = passkey ? passkeyRequired : answer === 408 && unlinked ? unscanned : findDisconnection(answer);
  return { says: translate(row.says, language), operator: translate(row.operator, language) };
};

/** Finds what is so with the connection. */
export const findCondition = (view: View): Condition => {
  const { state, say, now, language } = view;
  const { connection, account, accounts = [] } = state ?? {};
  const stored = accounts.find(({ name }) => name === account)?.downSince;
  const text = connection && new Date(connection.since);
  // the database knows of connections before this task led
  const isRetried = ["closed", "connecting", "unreachable"].includes(connection?.kind ?? "");
  const since = isRetried && stored && text && stored < text ? stored : text;
  const name = findName(view, since ?? now);
  const { says, operator } = adviceOf(connection, language);
  const code = connection?.answer ?? 0;
  const until = connection?.retryAt ? formatTime(new Date(connection.retryAt), now, say) : "";
  const what = say(`conditions.${name}.what`, { says, code, until, retry: sayRetry(view) }).trim();
  const isOneOfSeveral = accounts.length > 1 && account !== undefined && state?.leader;
  return {
    name,
    tone: tones[name],
    what: isOneOfSeveral ? `${account}: ${what}` : what,
    todo: sayIfKnown(say, `conditions.${name}.todo`, { operator })?.trim(),
    since: state?.leader ? since : undefined,
  };
};

const describeSending = ({ state, say }: View): string => {
  if (!state || state.unread) return say("status.sendingUnknown");
  if (state.paused) return say("status.sendingPaused");
  const isOn = ["open", "usable"].includes(state.connection.kind) || !state.leader;
  return say(isOn ? "status.sendingOn" : "status.sendingLater");
};

const describeLimits = ({ state, say }: View): string => {
  const { stoppedSeconds, pausedSeconds, cap, outages = [] } = state?.limits ?? {};
  const time = (seconds: number) => formatSeconds(seconds, say);
  const failed = outages.map(({ service, seconds }) =>
    say("status.outage", { service: say(`status.outages.${service}`), time: time(seconds) }),
  );
  const stopped = stoppedSeconds !== undefined && say("status.tooFast", { time: time(stoppedSeconds) });
  const paused = pausedSeconds !== undefined && say("status.limited", { time: time(pausedSeconds) });
  const used = cap && say("status.cap", { used: cap.used, total: cap.total, time: time(cap.endsInSeconds) });
  return [stopped, paused, used, ...failed].filter(Boolean).join(" ");
};

/** Whether the next attempt can be made at once: a ban is waited for. */
const canConnect = ({ state }: View, name: Name): boolean =>
  state?.leader === true && state.connection.kind === "closed" && name !== "banned";

export const renderStatus = (view: View): Html => {
  const { state, say, now } = view;
  const { name, tone, what, since } = findCondition(view);
  const isPaused = state?.paused ?? false;
  const limits = describeLimits(view);
  const isOn = state !== undefined && !state.unread;
  const phone = state?.leader ? state.connection.phone : undefined;
  const seconds = since === undefined ? 0 : (now.getTime() - since.getTime()) / 1_000;
  return html`<section id="status" class="card status" aria-labelledby="status-title">
<div class="grow">
<h2 id="status-title" class="kicker">${say("status.heading")}</h2>
<div role="status"><p class="headline"><span class="dot ${tone}" aria-hidden="true"></span>${say(`conditions.${name}.label`)}${phone && html` <span class="phone">${phone}</span>`}${isPaused ? html` <span class="badge">${say("status.paused")}</span>` : undefined}</p>
<p>${what} <strong>${describeSending(view)}</strong></p></div>
<p id="limits"${hiddenUnless(limits !== "")}>${limits}</p>
<p class="muted">${since && html`${say("status.for")} <time datetime="${since.toISOString()}">${formatSeconds(seconds, say)}</time>`}</p>
</div>
<div class="actions"${hiddenUnless(may(view, "operator"))}>
<form method="post" action="${pathOf(view, "log-in")}" data-live${hiddenUnless(canConnect(view, name))}><button class="primary">${say("status.connect")}</button></form>
<form method="post" action="/console/resume" data-live${hiddenUnless(isPaused)}><button class="primary"${disabledUnless(isOn)}>${say("status.resume")}</button></form>
<details${hiddenUnless(!isPaused && isOn)}>
<summary>${say("status.pausing")}</summary>
<form method="post" action="/console/pause" class="stack" data-live>
<p>${say("status.pauseEffect")}</p>
<button class="danger">${say("status.pause")}</button>
</form>
</details>
</div>
</section>`;
};
