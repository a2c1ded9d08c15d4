import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Language, Text } from "#lib/openapi/words.ts";

/** The guides by reader, in the order of the sidebar: `lib/docs/guides/<language>/<name>.md`. */
export const readers: readonly { readonly label: Text; readonly guides: readonly string[] }[] = [
  {
    label: { en: "App developers", id: "Pengembang aplikasi" },
    guides: ["quick-start", "app-builder", "tickets", "cors"],
  },
  {
    label: { en: "Partner agencies", id: "Instansi mitra" },
    guides: ["partner", "paging"],
  },
  { label: { en: "City backends", id: "Backend kota" }, guides: ["sending"] },
  {
    label: { en: "All callers", id: "Semua pemanggil" },
    guides: ["errors", "limits", "versions", "test-data", "status"],
  },
  {
    label: { en: "Operators", id: "Pengelola" },
    guides: [
      "operator",
      "runbook",
      "deploying",
      "messenger",
      "channels",
      "notifications",
      "importing",
      "rotation",
      "cost",
      "growing",
      "speed",
    ],
  },
  {
    label: { en: "Privacy and security", id: "Privasi dan keamanan" },
    guides: ["data-protection", "personal-data", "security"],
  },
  {
    label: { en: "Contributors", id: "Kontributor" },
    guides: ["contributor", "tests", "design", "residents"],
  },
];

export const guideNames = readers.flatMap(({ guides }) => guides);

export interface Guide {
  readonly title: string;
  /** The first paragraph, without markup. */
  readonly lead: string;
  /** Markdown without the title. */
  readonly body: string;
}

const folder = fileURLToPath(new URL("../../lib/docs/guides/", import.meta.url));

/** Lists the files of all guides, and the pictures in them. */
export const listGuideFiles = (): string[] =>
  globSync("**/*.*", { cwd: folder }).map((file) => `${folder}${file}`);

const withoutMarkup = (markdown: string): string =>
  markdown.replace(/\[([^\]]+)\]\([^)]+\)|[`*]/g, (_, text = "") => text).replaceAll("\n", " ");

/** @throws Error if the guide does not start with a title and a paragraph. */
export const readGuide = (name: string, language: Language): Guide => {
  const markdown = readFileSync(`${folder}${language}/${name}.md`, "utf8");
  const [, title, body = "", lead] = /^# (.+)\n\n(((?:.+\n)+)[\s\S]*)/.exec(markdown) ?? [];
  if (!title || !lead) throw new Error(`${language}/${name}.md does not start with a title and a paragraph`);
  return { title, lead: withoutMarkup(lead.trim()), body };
};

/** Lists the anchors of a guide's sections, as the site derives them from their headings. */
export const listAnchors = ({ body }: Guide): string[] =>
  [...body.replace(/^```.*?^```$/gms, "").matchAll(/^## (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(" ", "-")
      .replace(/[^\w-]/g, ""),
  );
