import { Html, html } from "#lib/html.ts";
import type { Hour } from "../state/chart.ts";
import { formatHour, hiddenUnless, type View } from "./view.ts";

const names = ["accepted", "sent", "failed", "waiting"] as const;
type Name = (typeof names)[number];

const height = 64;
const barWidth = 8;
const step = 10;

const drawBars = (values: readonly number[], most: number, label: string): Html => {
  const bars = values.map((value, index) => {
    const size = most === 0 ? 0 : Math.max(value > 0 ? 2 : 0, Math.round((value / most) * height));
    return `M${index * step} ${height}v-${size}h${barWidth}v${size}z`;
  });
  const width = values.length * step;
  const svg = html`<svg class="bars" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height + 1}" preserveAspectRatio="none">`;
  return new Html(
    `${svg.text}<path d="${bars.join("")}"/><path class="base" d="M0 ${height}h${width}v1H0z"/></svg>`,
  );
};

const renderOne = (name: Name, hours: readonly Hour[], { words }: View): Html => {
  const { chart } = words;
  const values = hours.map((hour) => hour[name]);
  const most = Math.max(0, ...values);
  const peak = hours[values.indexOf(most)];
  const total = values.reduce((sum, value) => sum + value, 0);
  const summary = name === "waiting" ? chart.now(values.at(-1) ?? 0) : chart.total(total);
  const label = chart.picture(
    chart.names[name],
    summary,
    chart.most(most),
    peak ? formatHour(peak.at, words) : "–",
  );
  const marks = [hours[0], hours[Math.floor(hours.length / 2)], hours.at(-1)];
  return html`<figure class="${name}">
<figcaption><strong>${chart.names[name]}</strong> <span class="muted">${summary}, ${chart.most(most)}</span></figcaption>
${drawBars(values, most, label)}
<p class="axis" aria-hidden="true">${marks.map((hour) => html`<span>${hour && formatHour(hour.at, words)}</span>`)}</p>
</figure>`;
};

const renderRow = (hour: Hour, { words }: View): Html =>
  html`<tr><th scope="row">${formatHour(hour.at, words)}</th>${names.map((name) => html`<td>${hour[name]}</td>`)}</tr>`;

/** Renders the last 24 hours as bars, each series with its own scale, and as a table. */
export const renderChart = (view: View): Html => {
  const { chart } = view.words;
  const hours = view.state?.hours ?? [];
  const isKnown = hours.length > 0;
  return html`<section id="chart" class="card" aria-labelledby="chart-title">
<h2 id="chart-title">${chart.heading}</h2>
<p class="muted"${hiddenUnless(!isKnown)}>${chart.unavailable}</p>
<div class="figures"${hiddenUnless(isKnown)}>${isKnown ? names.map((name) => renderOne(name, hours, view)) : undefined}</div>
<details${hiddenUnless(isKnown)}>
<summary>${chart.table}</summary>
<table class="hours">
<caption class="muted">${chart.caption}</caption>
<thead><tr><th scope="col">${chart.hour}</th>${names.map((name) => html`<th scope="col">${chart.names[name]}</th>`)}</tr></thead>
<tbody>${hours.map((hour) => renderRow(hour, view))}</tbody>
</table>
</details>
</section>`;
};
