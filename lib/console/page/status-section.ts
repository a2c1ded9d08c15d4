import { findDisconnection } from "#lib/channels/platform-codes.ts";
import { type Html, html } from "#lib/html.ts";
import type { Connection } from "../state/state.ts";
import { adviceOf } from "../words/advice.ts";
import { disabledUnless, formatSeconds, formatTime, hiddenUnless, may, type View } from "./view.ts";

type Tone = "good" | "waiting" | "bad" | "neutral";

interface Status {
  readonly tone: Tone;
  readonly label: string;
  readonly text: string;
}

const tones = {
  open: "good",
  connecting: "waiting",
  pairing: "waiting",
  replaced: "bad",
  usable: "good",
  unreachable: "bad",
} as const;

const describeConnection = ({ kind, answer, retryAt, passkey }: Connection, { words, now }: View): Status => {
  const { status } = words;
  const { labels } = status;
  const { says, operator } = adviceOf(words, answer);
  const { reaction } = findDisconnection(answer);
  if (kind === "rejected") return { tone: "bad", label: labels.rejected, text: status.rejected(answer ?? 0) };
  if (kind === "stopped") {
    const label = answer === 401 ? labels.unlinked : labels.stopped;
    return { tone: "bad", label, text: status.stopped(says) };
  }
  if (kind === "closed" && reaction === "wait" && retryAt) {
    const until = formatTime(new Date(retryAt), now, words);
    return { tone: "bad", label: labels.banned, text: status.banned(says, until, operator) };
  }
  if (kind === "closed") {
    const advice = reaction === "retry-slowly" ? ` ${operator}` : "";
    return { tone: "bad", label: labels.closed, text: status.closed(says, advice) };
  }
  if (passkey) return { tone: "bad", label: labels.passkey, text: status.passkey(words.passkey.says) };
  return { tone: tones[kind], label: labels[kind], text: status[kind] };
};

const findStatus = (view: View): Status => {
  const { state, words } = view;
  const { labels, unknown, leaderless, standby } = words.status;
  if (!state) return { tone: "neutral", label: labels.unknown, text: unknown };
  if (state.leader) return describeConnection(state.connection, view);
  return {
    tone: "neutral",
    label: labels.standby,
    text: state.unread === "unavailable" ? leaderless : standby,
  };
};

const describeSending = ({ state, words: { status } }: View): string => {
  if (!state || state.unread) return status.sendingUnknown;
  if (state.paused) return status.sendingPaused;
  return ["open", "usable"].includes(state.connection.kind) || !state.leader
    ? status.sendingOn
    : status.sendingLater;
};

const describeLimits = ({ state, words }: View): string => {
  const { stoppedSeconds, pausedSeconds, cap, outages = [] } = state?.limits ?? {};
  const { tooFast, limited, cap: format, outage, outages: services } = words.status;
  const failed = outages.map(({ service, seconds }) =>
    outage(services[service], formatSeconds(seconds, words)),
  );
  const stopped = stoppedSeconds !== undefined && tooFast(formatSeconds(stoppedSeconds, words));
  const paused = pausedSeconds !== undefined && limited(formatSeconds(pausedSeconds, words));
  const used = cap && format(cap.used, cap.total, formatSeconds(cap.endsInSeconds, words));
  return [stopped, paused, used, ...failed].filter(Boolean).join(" ");
};

export const renderStatus = (view: View): Html => {
  const { state, words, now } = view;
  const { status } = words;
  const { tone, label, text } = findStatus(view);
  const isPaused = state?.paused ?? false;
  const limits = describeLimits(view);
  const isOn = state !== undefined && !state.unread;
  const { since, phone } = state?.leader ? state.connection : {};
  const seconds = since === undefined ? 0 : (now.getTime() - Date.parse(since)) / 1_000;
  return html`<section id="status" class="card status" aria-labelledby="status-title">
<div class="grow">
<h2 id="status-title" class="kicker">${status.heading}</h2>
<div role="status"><p class="headline"><span class="dot ${tone}" aria-hidden="true"></span>${label}${phone && html` <span class="phone">${phone}</span>`}${isPaused ? html` <span class="badge">${status.paused}</span>` : undefined}</p>
<p>${text} <strong>${describeSending(view)}</strong></p></div>
<p id="limits"${hiddenUnless(limits !== "")}>${limits}</p>
<p class="muted">${since && html`${status.for} <time datetime="${since}">${formatSeconds(seconds, words)}</time>`}</p>
</div>
<form method="post" action="/console/${isPaused ? "resume" : "pause"}" data-live${hiddenUnless(may(view, "operator"))}>
<button id="pausing" class="${isPaused ? "primary" : "plain"}"${disabledUnless(isOn)}>${isPaused ? status.resume : status.pause}</button>
</form>
</section>`;
};
