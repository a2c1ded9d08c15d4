/** The console's style sheet; a template for the reason given in script.ts. Contrast is 4.5 to 1 or better. */
export const style = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f4f6f8, #0f1318);
  --card: light-dark(#ffffff, #181e26);
  --line: light-dark(#d8dee6, #2d3744);
  --edge: light-dark(#7c8897, #75839a);
  --text: light-dark(#18212c, #e6ebf1);
  --muted: light-dark(#566272, #a2aebd);
  --accent: light-dark(#1c5fa8, #8bbcf2);
  --on-accent: light-dark(#ffffff, #0b1520);
  --good: light-dark(#17703f, #6fce97);
  --waiting: light-dark(#8a5a00, #e5b45c);
  --bad: light-dark(#b3261e, #ff9b92);
  --good-wash: light-dark(#e8f5ed, #14291e);
  --bad-wash: light-dark(#fdeceb, #341a19);
  font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  color: var(--text);
  background: var(--page);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; }
p, h1, h2, h3, ol, dl, dd { margin: 0; }
main { display: grid; gap: 1rem; max-width: 64rem; margin: 0 auto; padding: 1rem; }
main > * { min-width: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.0625rem; }
h3 { font-size: 0.9375rem; }
code { font: 0.8125rem ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
a { color: var(--accent); }
.muted { color: var(--muted); font-size: 0.875rem; }
.grow { flex: 1 1 18rem; min-width: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

.bar {
  display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between;
  padding: 0.5rem max(1rem, calc(50vw - 31rem)); background: var(--card); border-bottom: 1px solid var(--line);
}
.bar form { display: flex; gap: 0.75rem; align-items: center; min-width: 0; }
.bar form span { overflow-wrap: anywhere; }
.brand { display: flex; gap: 0.5rem; align-items: center; font-weight: 600; }
.mark { width: 1.375rem; height: 1.375rem; fill: var(--accent); }

.card { display: grid; gap: 0.75rem; padding: 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.625rem; }
.banner { padding: 0.75rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--edge);
  border-radius: 0.375rem; background: var(--card); overflow-wrap: anywhere; }
.banner.good { border-left-color: var(--good); background: var(--good-wash); }
.banner.bad { border-left-color: var(--bad); background: var(--bad-wash); }
/* a live region that says nothing stays in the page, or the first thing it says is not read out */
main > .banner:empty { position: absolute; padding: 0; border: 0; }
body > .banner, noscript > .banner { max-width: 62rem; margin: 1rem auto 0; }
@media (max-width: 64rem) { body > .banner, noscript > .banner { margin: 1rem 1rem 0; } }
.stale main { opacity: 0.6; }

.status { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: center; }
.status .grow { display: grid; gap: 0.25rem; }
.kicker { font-size: 0.875rem; font-weight: 500; color: var(--muted); }
.headline { font-size: 1.5rem; font-weight: 600; line-height: 1.4; overflow-wrap: anywhere; }
.headline .phone { font-weight: 400; color: var(--muted); font-size: 1.125rem; }
.phone { font-variant-numeric: tabular-nums; }
.badge { display: inline-block; padding: 0.125rem 0.625rem; border: 1px solid; border-radius: 1rem;
  font-size: 0.875rem; font-weight: 500; vertical-align: 0.25rem; color: var(--waiting); }
.dot { display: inline-block; width: 0.75rem; height: 0.75rem; margin-right: 0.625rem; border-radius: 50%;
  background: var(--muted); }
.dot.good { background: var(--good); }
.dot.waiting { background: var(--waiting); }
.dot.bad { background: var(--bad); }

.columns { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; }
.columns > div { display: grid; gap: 0.75rem; align-content: start; }
.columns ol { padding-left: 1.25rem; display: grid; gap: 0.25rem; }
.columns .scan { flex: 0 1 17rem; min-width: 0; }
.frame { display: grid; place-items: center; aspect-ratio: 1; padding: 0.25rem; border: 1px solid var(--line);
  border-radius: 0.5rem; overflow: hidden; text-align: center; }
.frame:has(.qr) { background: #fff; }
.qr { display: block; width: 100%; height: 100%; }
.code { display: grid; }
.code output { font: 600 1.75rem/1.3 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
  letter-spacing: 0.08em; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.75rem; }
.tiles > div { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.tiles dt { color: var(--muted); font-size: 0.875rem; }
.number { font-size: 1.75rem; font-weight: 600; line-height: 1.2; margin-right: 0.375rem;
  font-variant-numeric: tabular-nums; }

table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th { text-align: left; font-weight: 500; color: var(--muted); }
th, td { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; padding-bottom: 0; }
td time, td.phone { white-space: nowrap; }
.state { font-size: 0.75rem; font-weight: 600; letter-spacing: 0.03em; color: var(--muted); }
.state.good { color: var(--good); }
.state.waiting { color: var(--waiting); }
.state.bad { color: var(--bad); }
.counts { display: flex; flex-wrap: wrap; gap: 0 0.75rem; padding: 0; list-style: none; margin: 0; }
.reason { display: block; color: var(--muted); overflow-wrap: anywhere; }

.stack { display: grid; gap: 0.5rem; justify-items: start; max-width: 22rem; }
label { font-weight: 500; font-size: 0.9375rem; }
input, button, summary { font: inherit; border-radius: 0.375rem; min-height: 2.75rem; padding: 0.5rem 0.875rem; }
input { width: 100%; color: inherit; background: var(--page); border: 1px solid var(--edge); }
button, summary { font-weight: 500; cursor: pointer; border: 1px solid var(--edge); background: transparent;
  color: inherit; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--on-accent); }
button.quiet { min-height: 2.25rem; padding: 0.25rem 0.75rem; font-size: 0.875rem; }
button:hover, summary:hover { border-color: var(--text); }
button:disabled { opacity: 0.6; cursor: not-allowed; }
[aria-busy="true"] button { opacity: 0.6; cursor: progress; }
summary { width: fit-content; list-style: none; }
summary::-webkit-details-marker { display: none; }
details form { margin-top: 1rem; }

.alone { display: grid; place-items: center; min-height: 100vh; padding: 1rem; }
.alone main { width: 100%; max-width: 24rem; padding: 1.75rem; gap: 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.625rem; }
.alone .stack { max-width: none; }
.alone .stack button { width: 100%; margin-top: 0.75rem; }

@media (max-width: 48rem) {
  table, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template: "state state" "to to" "kind sends" "accepted changed" "id id" / 1fr 1fr;
    gap: 0.125rem 0.75rem; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
  tbody tr:first-child { padding-top: 0; }
  tbody tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td { display: block; padding: 0; border: 0; min-width: 0; }
  td:first-child { grid-area: state; }
  td[data-label="To"] { grid-area: to; }
  td[data-label="Kind"] { grid-area: kind; }
  td[data-label="Sends"] { grid-area: sends; }
  td[data-label="Accepted"] { grid-area: accepted; }
  td[data-label="Changed"] { grid-area: changed; }
  td[data-label="Id"] { grid-area: id; }
  td[data-label]::before { content: attr(data-label) " "; color: var(--muted); }
  td[data-label="Id"]::before { content: none; }
  .runs tr { display: block; }
}
@media (max-width: 40rem) {
  .card { padding: 1rem; }
  .bar form span { display: none; }
  .status form, .status button { width: 100%; }
  .columns .scan { flex-basis: 100%; }
}
`;
