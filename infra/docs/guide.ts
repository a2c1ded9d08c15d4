import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { marked } from "marked";
import { type Language, languages } from "#lib/openapi/text.ts";

/** The guides, in the order in which the index lists them: `lib/docs/guides/<language>/<name>.md`. */
export const guideNames = [
  ...(["app-builder", "partner", "paging", "errors", "sending"] as const),
  ...(["operator", "deploying", "importing", "rotation", "notifications", "personal-data"] as const),
];

export interface Guide {
  readonly name: string;
  readonly title: string;
  /** The first paragraph, as HTML. */
  readonly lead: string;
  readonly html: string;
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

/** @throws Error for a guide that does not begin with its title and what it is about. */
export const readGuide = (name: string, language: Language): Guide => {
  const markdown = readFileSync(fileOf(name, language), "utf8");
  const [, title, lead] = /^# (.+)\n\n((?:.+\n)+)/.exec(markdown) ?? [];
  if (!title || !lead) throw new Error(`${language}/${name}.md does not begin with a title and a paragraph`);
  const html = marked.parse(markdown, { async: false });
  return { name, title, lead: marked.parseInline(lead, { async: false }), html: linked(html, language) };
};
