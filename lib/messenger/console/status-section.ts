import { type Html, html } from "#lib/html.ts";
import { findDisconnection, passkeyDemanded } from "../channels/platform-codes.ts";
import { formatSeconds } from "./age.ts";
import type { Connection, ConsoleState } from "./state.ts";

type Tone = "good" | "waiting" | "bad" | "neutral";

interface Status {
  readonly tone: Tone;
  readonly label: string;
  readonly text: string;
}

const byKind: Record<Exclude<Connection["kind"], "closed" | "stopped">, Status> = {
  open: { tone: "good", label: "Connected", text: "Connected to WhatsApp." },
  connecting: {
    tone: "waiting",
    label: "Connecting",
    text: "Connecting to WhatsApp. If this takes long, WhatsApp or the network is down; messages stay queued.",
  },
  pairing: {
    tone: "waiting",
    label: "Not linked",
    text: "No phone is linked. Link one below; until then messages stay queued.",
  },
  replaced: {
    tone: "bad",
    label: "Replaced",
    text: "Another program uses this WhatsApp link and has replaced this connection. Stop that program; the messenger reclaims the link by itself.",
  },
};

/** Ends of a ban are shown in the time zone of the city's operators: the page does not know the reader's. */
const formatTime = (at: string) =>
  new Date(at).toLocaleString("en-GB", { timeZone: "Asia/Jakarta", dateStyle: "medium", timeStyle: "short" });

const describeConnection = ({ kind, answer, retryAt, passkey }: Connection): Status => {
  const { says, reaction, operator } = findDisconnection(answer);
  if (kind === "stopped") {
    const label = answer === 401 ? "Unlinked" : "Rejected";
    return {
      tone: "bad",
      label,
      text: `${says} No login is tried until you act below; messages stay queued.`,
    };
  }
  if (kind === "closed" && reaction === "wait" && retryAt) {
    const until = `No login is tried before ${formatTime(retryAt)} (Jakarta).`;
    return { tone: "bad", label: "Banned", text: `${says} ${until} ${operator} Messages stay queued.` };
  }
  if (kind === "closed") {
    const advice = reaction === "retry-slowly" ? ` ${operator}` : "";
    const text = `${says}${advice} The task reconnects automatically; messages stay queued.`;
    return { tone: "bad", label: "Not connected", text };
  }
  if (passkey) return { tone: "bad", label: "Passkey demanded", text: `${passkeyDemanded.says} See below.` };
  return byKind[kind];
};

const standby: Status = {
  tone: "neutral",
  label: "Standby",
  text: "Another task is the leader. This one takes over when it stops.",
};
const leaderless: Status = {
  tone: "neutral",
  label: "Standby",
  text: "No leader can be elected without the database.",
};
const unknown: Status = {
  tone: "neutral",
  label: "Unknown",
  text: "The state of the messenger is unknown.",
};

const findStatus = (state: ConsoleState | undefined): Status => {
  if (!state) return unknown;
  if (state.leader) return describeConnection(state.connection);
  return state.databaseUnavailable ? leaderless : standby;
};

export const renderBanner = (state: ConsoleState | undefined): Html => {
  const text = !state
    ? "The messenger is running, but its state cannot be read. See its log."
    : state.databaseUnavailable
      ? "The database is unavailable: no messages are accepted or sent, and queue and messages cannot be shown. The connection below is current."
      : undefined;
  return html`<p id="trouble" class="banner bad" role="status">${text}</p>`;
};

const describeSending = (state: ConsoleState | undefined): string => {
  if (!state || state.databaseUnavailable) return "It is unknown whether sending is paused.";
  if (state.paused) return "Sending is paused; messages stay queued.";
  return state.connection.kind === "open" || !state.leader
    ? "Sending is on."
    : "Sending starts once connected.";
};

const failures = {
  directory: "WhatsApp does not answer for numbers and devices; messages to numbers not used recently",
  media: "WhatsApp's media servers accept no uploads; images and files",
};

const describeLimits = ({ limits }: ConsoleState): string => {
  const { pausedSeconds, cap, outages = [] } = limits ?? {};
  const failed = outages.map(
    ({ service, seconds }) =>
      `${failures[service]} stay queued, and are tried again in ${formatSeconds(seconds)}.`,
  );
  const paused =
    pausedSeconds !== undefined &&
    `WhatsApp accepts no messages to new contacts for another ${formatSeconds(pausedSeconds)}; they stay queued.`;
  const used =
    cap &&
    `${cap.used} of ${cap.total} new contacts that WhatsApp allows are used; the next cycle begins in ${formatSeconds(cap.endsInSeconds)}.`;
  return [paused, used, ...failed].filter(Boolean).join(" ");
};

export const renderStatus = (state: ConsoleState | undefined, now: Date): Html => {
  const { tone, label, text } = findStatus(state);
  const isPaused = state?.paused ?? false;
  const limits = state && describeLimits(state);
  const isOff = !state || state.databaseUnavailable;
  const { since, phone } = state?.leader ? state.connection : {};
  const seconds = since === undefined ? 0 : (now.getTime() - Date.parse(since)) / 1_000;
  return html`<section id="status" class="card status" aria-labelledby="status-title">
<div class="grow">
<h2 id="status-title" class="kicker">Connection</h2>
<div role="status"><p class="headline"><span class="dot ${tone}" aria-hidden="true"></span>${label}${phone && html` <span class="phone">${phone}</span>`}${isPaused ? html` <span class="badge">Paused</span>` : undefined}</p>
<p>${text} <strong>${describeSending(state)}</strong></p></div>
<p id="limits"${limits ? undefined : html` hidden`}>${limits}</p>
<p class="muted">${since && html`For <time datetime="${since}">${formatSeconds(seconds)}</time>`}</p>
</div>
<form method="post" action="/console/${isPaused ? "resume" : "pause"}" data-live>
<button id="pausing" class="${isPaused ? "primary" : "plain"}"${isOff ? html` disabled` : undefined}>${isPaused ? "Resume sending" : "Pause sending"}</button>
</form>
</section>`;
};
