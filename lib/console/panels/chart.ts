import type postgres from "postgres";
import { Html, html } from "#lib/html.ts";
import { formatHour, hiddenUnless, type View, zoneLabel } from "../view.ts";

/** One hour of the chart. */
export interface Hour {
  readonly at: Date;
  readonly accepted: number;
  readonly sent: number;
  /** Failed, expired or uncertain. */
  readonly failed: number;
  /** At the end of the hour. */
  readonly waiting: number;
}

/** What was accepted and sent in hours that are over, by their beginning in ms: it changes no more. */
export type ClosedHours = Map<number, Pick<Hour, "accepted" | "sent">>;

const hourMs = 3_600_000;
/** What is being accepted or sent at the end of an hour is committed by then. */
const settledMs = 300_000;

/** Remembers the hours that are over, and forgets those that the chart no longer shows. */
const remember = (closed: ClosedHours, hours: readonly Hour[]): void => {
  const [first, last] = [hours[0], hours.at(-1)].map((hour) => hour?.at.getTime() ?? 0) as [number, number];
  for (const at of closed.keys()) if (at < first) closed.delete(at);
  for (const { at, accepted, sent } of hours)
    if (at.getTime() + hourMs <= Math.min(last, Date.now() - settledMs))
      closed.set(at.getTime(), { accepted, sent });
};

/**
 * Counts the messages of the last 24 hours by hour, from the database: the memory of a task ends with it.
 *
 * @param closed of an earlier call, which is not counted again.
 */
export const listHours = async (sql: postgres.ISql, closed: ClosedHours = new Map()): Promise<Hour[]> => {
  const known = new Date(closed.size > 0 ? Math.max(...closed.keys()) + hourMs : 0);
  const count = (time: "accepted_at" | "sent_at") => sql`
    select date_trunc('hour', ${sql(time)}, 'UTC') as at, count(*) from messaging.message
    where ${sql(time)} >= greatest(date_trunc('hour', now(), 'UTC') - interval '23 hours', ${known}) group by 1`;
  const rows = await sql<(Omit<Hour, "waiting"> & { cancelled: number; open: number })[]>`
    select hour.at, coalesce(accepted.count, 0)::int as accepted, coalesce(sent.count, 0)::int as sent,
      coalesce(failed, 0)::int as failed, coalesce(cancelled, 0)::int as cancelled,
      (select count(*)::int from messaging.message where is_open) as open
    from generate_series(date_trunc('hour', now(), 'UTC') - interval '23 hours', now(), interval '1 hour') hour (at)
    left join (${count("accepted_at")}) accepted using (at)
    left join (${count("sent_at")}) sent using (at)
    left join (
      select hour as at, sum(count) filter (where outcome = 'failed') as failed,
        sum(count) filter (where outcome = 'cancelled') as cancelled
      from messaging.ending group by 1) ended using (at)
    order by at`;
  // backwards from those that wait now
  let waiting = rows[0]?.open ?? 0;
  const hours = rows.toReversed().map(({ open: _, cancelled, ...counted }) => {
    const hour = { ...counted, ...closed.get(counted.at.getTime()) };
    const row = { ...hour, waiting: Math.max(0, waiting) };
    waiting += hour.sent + hour.failed + cancelled - hour.accepted;
    return row;
  });
  hours.reverse();
  remember(closed, hours);
  return hours;
};

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

const renderOne = (name: Name, hours: readonly Hour[], { say }: View): Html => {
  const values = hours.map((hour) => hour[name]);
  const most = Math.max(0, ...values);
  const flow = names.filter((other) => (other === "waiting") === (name === "waiting"));
  // those that are accepted, sent and failed in an hour can be compared
  const scale = Math.max(...flow.flatMap((other) => hours.map((hour) => hour[other])));
  const peak = hours[values.indexOf(most)];
  const total = values.reduce((sum, value) => sum + value, 0);
  const summary =
    name === "waiting" ? say("chart.now", { count: values.at(-1) ?? 0 }) : say("chart.total", { total });
  const highest = say(name === "waiting" ? "chart.mostAtOnce" : "chart.most", { most });
  const at = peak ? formatHour(peak.at, say) : "–";
  const label = say("chart.picture", { name: say(`chart.names.${name}`), summary, most: highest, at });
  const marks = [hours[0], hours[Math.floor(hours.length / 2)], hours.at(-1)];
  return html`<figure class="${name}">
<figcaption><strong>${say(`chart.names.${name}`)}</strong> <span class="muted">${summary}, ${highest}</span></figcaption>
${drawBars(values, scale, label)}
<p class="axis" aria-hidden="true">${marks.map((hour) => html`<span>${hour && formatHour(hour.at, say)}</span>`)}</p>
</figure>`;
};

const renderRow = (hour: Hour, { say }: View): Html =>
  html`<tr><th scope="row">${formatHour(hour.at, say)}</th>${names.map((name) => html`<td>${hour[name]}</td>`)}</tr>`;

/** Renders the last 24 hours as bars, those of an hour in one scale, and as a table. */
export const renderChart = (view: View): Html => {
  const { say } = view;
  const hours = view.state?.hours ?? [];
  const isKnown = hours.length > 0;
  return html`<section id="chart" class="card" aria-labelledby="chart-title">
<h2 id="chart-title">${say("chart.heading")}</h2>
<p class="muted"${hiddenUnless(!isKnown)}>${say("chart.unavailable")}</p>
<div class="figures"${hiddenUnless(isKnown)}>${isKnown ? names.map((name) => renderOne(name, hours, view)) : undefined}</div>
<details${hiddenUnless(isKnown)}>
<summary>${say("chart.table")}</summary>
<table class="hours">
<caption class="muted">${say("chart.caption")}</caption>
<thead><tr><th scope="col">${say("chart.hour", { zone: zoneLabel() })}</th>${names.map((name) => html`<th scope="col">${say(`chart.names.${name}`)}</th>`)}</tr></thead>
<tbody>${hours.map((hour) => renderRow(hour, view))}</tbody>
</table>
</details>
</section>`;
};
