import { type Html, html } from "#lib/html.ts";
import { findCondition } from "./conditions.ts";
import { disabledUnless, formatSeconds, hiddenUnless, may, type View } from "./view.ts";

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
  const { name, tone, what, since } = findCondition(view);
  const isPaused = state?.paused ?? false;
  const limits = describeLimits(view);
  const isOn = state !== undefined && !state.unread;
  const phone = state?.leader ? state.connection.phone : undefined;
  const seconds = since === undefined ? 0 : (now.getTime() - since.getTime()) / 1_000;
  return html`<section id="status" class="card status" aria-labelledby="status-title">
<div class="grow">
<h2 id="status-title" class="kicker">${status.heading}</h2>
<div role="status"><p class="headline"><span class="dot ${tone}" aria-hidden="true"></span>${words.conditions[name].label}${phone && html` <span class="phone">${phone}</span>`}${isPaused ? html` <span class="badge">${status.paused}</span>` : undefined}</p>
<p>${what} <strong>${describeSending(view)}</strong></p></div>
<p id="limits"${hiddenUnless(limits !== "")}>${limits}</p>
<p class="muted">${since && html`${status.for} <time datetime="${since.toISOString()}">${formatSeconds(seconds, words)}</time>`}</p>
</div>
<form method="post" action="/console/${isPaused ? "resume" : "pause"}" data-live${hiddenUnless(may(view, "operator"))}>
<button id="pausing" class="${isPaused ? "primary" : "plain"}"${disabledUnless(isOn)}>${isPaused ? status.resume : status.pause}</button>
</form>
</section>`;
};
