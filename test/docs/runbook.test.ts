import { globSync, readFileSync } from "node:fs";
import { describe, expect, inject, test } from "vitest";
import { rejections } from "#lib/channels/codes.ts";
import { disconnections, unscanned } from "#lib/channels/whatsapp/codes.ts";
import { translate } from "#lib/console/words.ts";
import { languages } from "#lib/openapi/words.ts";
import { prefixes } from "../../infra/docs/content.ts";
import { guideNames, listAnchors, readGuide } from "../../infra/docs/guide.ts";
import { readGuideText } from "../steps/shell-lines.ts";

const { baseUrl } = inject("city");
const anchors = listAnchors(readGuide("runbook", "en"));

/** The code, the meaning, what the product does and what the operator does, of each row of the tables of codes. */
const readRows = (language: "en" | "id") =>
  [
    ...readGuideText(language, "runbook").matchAll(
      /^\| (\d+|5xx|other|not_registered) \| (.+) \| (.+) \| (.+) \|$/gm,
    ),
  ].map(([, code = "", says = "", does = "", operator = ""]) => ({ code, says, does, operator }));

describe.each(languages)("the runbook in %s", (language) => {
  const path = `/docs/${prefixes[language]}runbook`;

  test("has the English anchors of its sections, which alarms name, in the text and in the list of sections", async () => {
    const page = await (await fetch(`${baseUrl}${path}`)).text();
    const own = [...page.matchAll(/<h2[^>]* id="([^"]+)"/g)].map(([, id]) => id);
    const listed = new Set([...page.matchAll(/<a href="#([\w-]+)"/g)].map(([, id]) => id));
    // the list of sections has a heading of its own
    expect(own.filter((id) => !id?.startsWith("starlight__"))).toEqual(anchors);
    for (const anchor of anchors) expect(listed).toContain(anchor);
    expect(page).not.toContain("{#");
  });

  test("is linked by anchors that it has", () => {
    const texts = guideNames.map((name) => readGuideText(language, name)).join("\n");
    const inside = [...readGuideText(language, "runbook").matchAll(/\]\(#([\w-]+)\)/g)];
    const linked = [...inside, ...texts.matchAll(/\]\(runbook\.md#([\w-]+)\)/g)].map(([, name]) => name);
    expect(linked.length).toBeGreaterThan(40);
    for (const anchor of linked) expect(anchors).toContain(anchor);
  });
});

test("commands, and the console's list of problems, name sections of the runbook that exist", () => {
  const code = globSync("{lib,infra,functions}/**/*.ts").map((file) => readFileSync(file, "utf8"));
  const problems = readFileSync("lib/console/panels/alerts.ts", "utf8").matchAll(/: \["\w+", "([\w-]+)"\]/g);
  const named = [...problems, ...code.join("\n").matchAll(/\/docs\/runbook#([\w-]+)/g)].map(
    ([, anchor]) => anchor,
  );
  expect(named.length).toBeGreaterThan(25);
  for (const anchor of named) expect(anchors).toContain(anchor);
});

test("the runbook in Indonesian has all codes, with the console's words and one sentence for each reaction", () => {
  const [english, rows] = [readRows("en"), readRows("id")];
  expect(rows.map(({ code }) => code)).toEqual(english.map(({ code }) => code));
  const said = [disconnections, ...Object.values(rejections), { unscanned }].flatMap((table) =>
    Object.values(table).map(({ says }) => translate(says, "id")),
  );
  for (const { says } of rows) expect(said).toContain(says);
  const pairs = new Set(rows.map(({ does }, at) => `${english[at]?.does} = ${does}`));
  expect(pairs.size).toBe(new Set(english.map(({ does }) => does)).size);
});
