import { type Html, html } from "#lib/html.ts";
import { describeSeconds } from "./age.ts";
import type { Connection, ConsoleState } from "./state.ts";

type Tone = "good" | "waiting" | "bad" | "neutral";

interface Status {
  readonly tone: Tone;
  readonly label: string;
  readonly text: string;
}

const byKind: Record<Connection["kind"], Status> = {
  open: { tone: "good", label: "Connected", text: "The messenger is connected to WhatsApp." },
  connecting: {
    tone: "waiting",
    label: "Connecting",
    text: "Trying to reach WhatsApp. If this lasts, WhatsApp or the network on the way to it is away; messages are kept and sent later.",
  },
  pairing: {
    tone: "waiting",
    label: "Not linked",
    text: "No phone is linked. Link one below; until then messages are kept and none is sent.",
  },
  closed: {
    tone: "bad",
    label: "Not connected",
    text: "WhatsApp, or the network on the way to it, is away. The task tries again by itself; messages are kept and sent later.",
  },
  replaced: {
    tone: "bad",
    label: "Taken over",
    text: "Another program has opened this messenger, so this task has stepped back. End the other one, then restart this task.",
  },
};

const standingBy: Status = {
  tone: "neutral",
  label: "Standing by",
  text: "Another task leads. This one takes over when that one ends.",
};
const leaderless: Status = {
  tone: "neutral",
  label: "Standing by",
  text: "Without the database no task can be chosen to lead.",
};
const unknown: Status = {
  tone: "neutral",
  label: "Unknown",
  text: "The state of the messenger is not known.",
};

const findStatus = (state: ConsoleState | undefined): Status => {
  if (!state) return unknown;
  if (state.leader) return byKind[state.connection.kind];
  return state.databaseAway ? leaderless : standingBy;
};

/** Says which part is away, when the page cannot show all. */
export const renderBanner = (state: ConsoleState | undefined): Html => {
  const text = !state
    ? "The messenger answers, but its state cannot be read. Its log says why."
    : state.databaseAway
      ? "The database is away. The queue and the messages cannot be shown, and nothing is accepted or sent until it is back. The connection below is current."
      : undefined;
  return html`<p id="trouble" class="banner bad" role="status">${text}</p>`;
};

const describeSending = (state: ConsoleState | undefined): string => {
  if (!state || state.databaseAway) return "Whether sending is paused is not known.";
  if (state.paused) return "Sending is paused: messages are accepted and kept.";
  return state.connection.kind === "open" || !state.leader
    ? "Sending is on."
    : "Sending starts once connected.";
};

/** Connection and pause, as the first thing on the page. */
export const renderStatus = (state: ConsoleState | undefined, now: Date): Html => {
  const { tone, label, text } = findStatus(state);
  const isPaused = state?.paused ?? false;
  const isOff = !state || state.databaseAway;
  const { since, phone } = state?.leader ? state.connection : {};
  const seconds = since === undefined ? 0 : (now.getTime() - Date.parse(since)) / 1_000;
  return html`<section id="status" class="card status" aria-labelledby="status-title">
<div class="grow">
<h2 id="status-title" class="kicker">Connection</h2>
<div role="status"><p class="headline"><span class="dot ${tone}" aria-hidden="true"></span>${label}${phone && html` <span class="phone">${phone}</span>`}${isPaused ? html` <span class="badge">Paused</span>` : undefined}</p>
<p>${text} <strong>${describeSending(state)}</strong></p></div>
<p class="muted">${since && html`For <time datetime="${since}">${describeSeconds(seconds)}</time>`}</p>
</div>
<form method="post" action="/console/${isPaused ? "resume" : "pause"}" data-live>
<button id="pausing" class="${isPaused ? "primary" : "plain"}"${isOff ? html` disabled` : undefined}>${isPaused ? "Resume sending" : "Pause sending"}</button>
</form>
</section>`;
};
