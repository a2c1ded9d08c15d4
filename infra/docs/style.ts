/** Of all pages; what the reference has of its own is beside it in `reference.css`. */
export const pageStyle = `
:root { color-scheme: light; --ink: #1c2733; --quiet: #51606f; --line: #d5dde5; --link: #0b5a9a; --ground: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff; font: 1rem/1.55 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between;
  padding: .75rem 1rem; border-bottom: 1px solid var(--line); background: var(--ground); }
header p { margin: 0; font-weight: 600; }
header a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
header nav a { margin-inline-start: .75rem; }
main { max-width: 68rem; margin: 0 auto; padding: 1rem; outline: none; }
article { max-width: 46rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.25rem; margin-top: 2rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible { outline: 3px solid #f5a623; outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: .5rem; top: .5rem; padding: .5rem; background: #fff; z-index: 1; }
.guides { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: .75rem; padding: 0; list-style: none; }
.guides li { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .4rem; }
.guides a { font-weight: 600; }
.guides p { margin: .25rem 0 0; color: var(--quiet); font-size: .92rem; }
pre { padding: .75rem 1rem; overflow-x: auto; background: #16202b; color: #e8eef4; border-radius: .4rem; font-size: .85rem; }
code { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: break-word; }
pre code { overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .35rem .6rem; border: 1px solid var(--line); text-align: start; vertical-align: top; }
th { background: var(--ground); }
td { min-width: 8rem; }
td:first-child { min-width: 0; }
`;

/** What makes Swagger UI fit a narrow screen, and a page that has its title already. */
export const referenceFit = `
.swagger-ui .info .main { display: none; }
.swagger-ui .wrapper { padding: 0; }
.swagger-ui .info { margin: 1rem 0; }
.swagger-ui .scheme-container { padding: 1rem 0; box-shadow: none; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .opblock .opblock-summary-path { word-break: break-word; }
.swagger-ui .markdown pre, .swagger-ui .renderedMarkdown pre { overflow-x: auto; }
@media (max-width: 40rem) {
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-description { padding: 0; }
  .swagger-ui .opblock-tag { display: block; font-size: 1.2rem; }
  .swagger-ui .opblock-tag small { display: block; padding: 0; }
  .swagger-ui table, .swagger-ui tbody, .swagger-ui tr, .swagger-ui td { display: block; width: auto; }
  .swagger-ui thead { display: none; }
  .swagger-ui .opblock-section-header { padding: .5rem; }
  .swagger-ui table tbody tr td, .swagger-ui table.model tbody tr td { padding: .25rem 0; max-width: 100%; min-width: 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; }
}
`;
