import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { placeholderBase } from "#lib/docs/built.ts";
import { type Language, languages } from "#lib/openapi/words.ts";
import { type Guide, guideNames, listAnchors, readers, readGuide } from "./guide.ts";
import { words } from "./words.ts";

const examples = fileURLToPath(new URL("../../lib/docs/examples/", import.meta.url));

/** The folder of a language in the site: English pages stand at its root. */
export const prefixes: Readonly<Record<Language, string>> = { en: "", id: "id/" };

export const labels = { sh: "Shell", ts: "TypeScript", python: "Python", php: "PHP" };
type ExampleLanguage = keyof typeof labels;

/** Reads an example of the guides in other languages than shell. */
export const readExample = (name: string): (readonly [ExampleLanguage, string])[] =>
  [...readFileSync(`${examples}${name}.md`, "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language, text = ""]) => [language as ExampleLanguage, text],
  );

/** Puts the same request in other languages beside a block such as ```` ```sh login ````: `lib/docs/examples/login.md`. */
const withTabs = (markdown: string): string =>
  markdown.replace(/^```sh (?!cloud)(\w+)\n([\s\S]*?)^```\n/gm, (_, name, shell) => {
    const blocks = [["sh", shell], ...readExample(name)] as const;
    const tabs = blocks.map(
      ([language, text]) =>
        `<TabItem label="${labels[language as ExampleLanguage]}">\n\n\`\`\`${language}\n${text}\`\`\`\n\n</TabItem>`,
    );
    return `<Tabs syncKey="language">\n${tabs.join("\n")}\n</Tabs>\n`;
  });

/** Turns links to guide files and pictures into links to their pages and copies. */
const withLinks = (markdown: string, language: Language): string =>
  markdown
    .replace(
      /\]\((?:\.\/)?([a-z-]+)\.md(#[\w-]+)?\)/g,
      (_, name, anchor = "") => `](${placeholderBase}/docs/${prefixes[language]}${name}${anchor})`,
    )
    .replaceAll("](../../pictures/", `](${placeholderBase}/docs/pictures/`);

/**
 * Gives the sections of the runbook their English anchors in every language: alarms, commands and the console name them. Other
 * guides have the anchors of their own headings. The runbook mentions most subjects of the other guides, so that a search
 * would lead to it first: its text counts less than theirs (1), and its headings more (6).
 */
const composeBody = (name: string, { body }: Guide): string => {
  if (name !== "runbook") return body;
  const anchors = listAnchors(readGuide(name, "en")).values();
  const anchored = body.replace(
    /^## .+$/gm,
    (heading) => `${heading} {#${anchors.next().value} data-pagefind-weight=8}`,
  );
  return `<div data-pagefind-weight="0.4">\n\n${anchored}\n</div>\n`;
};

const frontmatter = (fields: Record<string, unknown>): string =>
  `---\n${Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join("\n")}\n---\n`;

const composeGuide = (name: string, language: Language): readonly [string, string] => {
  const guide = readGuide(name, language);
  const { title, lead } = guide;
  const text = withTabs(withLinks(composeBody(name, guide), language));
  const hasTabs = text.includes("<Tabs ");
  const imports = hasTabs ? 'import { TabItem, Tabs } from "@astrojs/starlight/components";\n\n' : "";
  const file = `${prefixes[language]}${name}.${hasTabs ? "mdx" : "md"}`;
  return [file, `${frontmatter({ title, description: lead })}\n${imports}${text}`];
};

/** A picture of `npm run lab -- screenshots`, in the scheme of the page. */
const picture = (name: string, description: string): string =>
  [
    ["light", "dark"],
    ["dark", "light"],
  ]
    .map(
      ([scheme, other]) =>
        `<img class="${other}:sl-hidden" src="${placeholderBase}/docs/pictures/${name}.${scheme}.png" alt=${JSON.stringify(description)} width="1280" height="800" loading="lazy" />`,
    )
    .join("\n");

/** The page at `/docs`: every guide with its first paragraph, by reader. */
const composeIndex = (language: Language): readonly [string, string] => {
  const { product, lead, reference, referenceLead } = words[language];
  const at = `${placeholderBase}/docs/${prefixes[language]}`;
  const card = (title: string, href: string, description: string) =>
    `<LinkCard title=${JSON.stringify(title)} href="${href}" description=${JSON.stringify(description)} />`;
  const groups = readers.map(({ label, guides }) => {
    const cards = guides.map((name) => {
      const guide = readGuide(name, language);
      return card(guide.title, `${at}${name}`, guide.lead);
    });
    return `## ${label[language]}\n\n<CardGrid>\n${cards.join("\n")}\n</CardGrid>\n`;
  });
  const fields = {
    title: product,
    description: lead,
    tableOfContents: { maxHeadingLevel: 2 },
    pagefind: false, // every word of it is on the page that it leads to
    head: [{ tag: "title", content: product }], // the default repeats the product's name
  };
  return [
    `${prefixes[language]}index.mdx`,
    `${frontmatter(fields)}
import { CardGrid, LinkCard } from "@astrojs/starlight/components";

${lead}

${card(reference, `${at}reference`, referenceLead)}

${picture("reference", words[language].pictures.reference)}

${groups.join("\n")}`,
  ];
};

const composeMissing = (language: Language): readonly [string, string] => {
  const { missing, missingText, toIndex } = words[language];
  const fields = { title: missing, template: "splash", editUrl: false, pagefind: false };
  const home = `${placeholderBase}/docs/${prefixes[language]}`.replace(/\/$/, "");
  return [`${prefixes[language]}404.md`, `${frontmatter(fields)}\n${missingText}\n\n[${toIndex}](${home})\n`];
};

/** Writes the pages of both languages as Starlight reads them. */
export const writeContent = (folder: string): void => {
  for (const language of languages)
    for (const [file, text] of [
      composeIndex(language),
      composeMissing(language),
      ...guideNames.map((name) => composeGuide(name, language)),
    ]) {
      mkdirSync(dirname(`${folder}/${file}`), { recursive: true });
      writeFileSync(`${folder}/${file}`, text);
    }
};
