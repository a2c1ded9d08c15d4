import { expect, test } from "vitest";
import { html } from "#lib/html.ts";
import type { Guide } from "../../infra/docs/guide.ts";
import { renderGuide, renderIndex } from "../../infra/docs/page.ts";

const guide: Guide = {
  name: "paging",
  title: `Pages < 100 & "more"`,
  lead: html`Lists come in <em>pages</em>.`,
  body: html`<h1>Pages</h1>`,
};
const assets = {
  pageStyle: "page.1.css",
  referenceStyle: "reference.2.css",
  referenceScript: "reference.3.js",
};
const title = "Pages &lt; 100 &amp; &quot;more&quot;";

test("a guide's title is escaped on its own page, and its text is not", () => {
  const page = renderGuide(guide, "en", assets);
  expect(page).toContain(`<title>${title} · Municipal Integration API</title>`);
  expect(page).toContain("<article>\n<h1>Pages</h1></article>");
});

test("a guide's title is escaped in the index, and its first paragraph is not", () =>
  expect(renderIndex([guide], "en", assets)).toContain(
    `<li><a href="docs/paging?lang=en">${title}</a><p>Lists come in <em>pages</em>.</p></li>`,
  ));
