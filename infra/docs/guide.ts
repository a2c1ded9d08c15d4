import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { marked } from "marked";
import { Html } from "#lib/html.ts";
import { type Language, languages } from "#lib/openapi/text.ts";

export type Reader = "developer" | "operator" | "contributor";

/** The guides by reader, in the order of the index: `lib/docs/guides/<language>/<name>.md`. */
export const guidesByReader: Readonly<Record<Reader, readonly string[]>> = {
  developer: ["app-builder", "partner", "paging", "errors", "sending"],
  operator: [
    "operator",
    "deploying",
    "messenger",
    "notifications",
    "importing",
    "residents",
    "rotation",
    "personal-data",
    "security",
    "cost",
  ],
  contributor: ["contributor", "tests"],
};

export const guideNames = Object.values(guidesByReader).flat();

export interface Guide {
  readonly name: string;
  readonly title: string;
  /** The first paragraph. */
  readonly lead: Html;
  readonly body: Html;
}

const folder = new URL("../../lib/docs/guides/", import.meta.url);

/** Turns links to guide files into links to their pages. */
const linked = (html: string, language: Language): string =>
  html.replace(
    /href="(?:\.\/)?([a-z-]+)\.md(#[\w-]+)?"/g,
    (_, name, anchor = "") => `href="${name}?lang=${language}${anchor}"`,
  );

const fileOf = (name: string, language: Language): string =>
  fileURLToPath(new URL(`${language}/${name}.md`, folder));

/** Lists the files of all guides. */
export const listGuideFiles = (): string[] =>
  languages.flatMap((language) => guideNames.map((name) => fileOf(name, language)));

/** @throws Error if the guide does not start with a title and a paragraph. */
export const readGuide = (name: string, language: Language): Guide => {
  const markdown = readFileSync(fileOf(name, language), "utf8");
  const [, title, lead] = /^# (.+)\n\n((?:.+\n)+)/.exec(markdown) ?? [];
  if (!title || !lead) throw new Error(`${language}/${name}.md does not start with a title and a paragraph`);
  const body = linked(marked.parse(markdown, { async: false }), language);
  return {
    name,
    title,
    lead: new Html(marked.parseInline(lead.trim(), { async: false })),
    body: new Html(body),
  };
};
