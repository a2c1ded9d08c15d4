import { type Language, languages } from "#lib/openapi/text.ts";
import type { Guide } from "./guide.ts";

const names: Readonly<Record<Language, string>> = { en: "English", id: "Bahasa Indonesia" };

const words = {
  en: {
    product: "Municipal Integration API",
    skip: "Skip to the content",
    language: "Language",
    guides: "Guides",
    reference: "Reference",
    lead: "How to call the city's employee, resident, tourism and messaging services. The guides begin with a first request; the reference has every endpoint with a line for the shell, and every error with how to mend it.",
    document: "The same for machines:",
    noScript: "The reference needs JavaScript. Without it, read the document itself:",
    back: "All guides and the reference",
  },
  id: {
    product: "API Integrasi Kota",
    skip: "Langsung ke isi",
    language: "Bahasa",
    guides: "Panduan",
    reference: "Referensi",
    lead: "Cara memanggil layanan kepegawaian, kependudukan, pariwisata, dan perpesanan kota. Panduan mulai dari permintaan pertama; referensi memuat setiap endpoint dengan baris perintah untuk shell, dan setiap kesalahan dengan cara memperbaikinya.",
    document: "Hal yang sama untuk mesin:",
    noScript: "Referensi membutuhkan JavaScript. Tanpa itu, bacalah dokumennya:",
    back: "Semua panduan dan referensi",
  },
} as const satisfies Readonly<Record<Language, object>>;

interface Shell {
  readonly language: Language;
  readonly title: string;
  /** The way to the folder `docs/`, from where the page is. */
  readonly files: string;
  /** The page itself, without its language. */
  readonly self: string;
  readonly head?: string;
  readonly main: string;
}

const shell = ({ language, title, files, self, head = "", main }: Shell): string => {
  const { product, skip, language: choose } = words[language];
  const switches = languages.map(
    (other) =>
      `<a href="${self}?lang=${other}" lang="${other}" hreflang="${other}"${other === language ? ' aria-current="true"' : ""}>${names[other]}</a>`,
  );
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}page.css">
${head}</head>
<body>
<a class="skip" href="#content">${skip}</a>
<header>
<p class="product">${product}</p>
<nav aria-label="${choose}">${switches.join(" ")}</nav>
</header>
<main id="content" tabindex="-1">
${main}</main>
</body>
</html>
`;
};

/** The page at `/docs`: the guides, and the reference that its script draws. */
export const renderIndex = (guides: readonly Guide[], language: Language): string => {
  const { product, guides: heading, reference, lead, document, noScript } = words[language];
  const link = `<a href="openapi.json?lang=${language}">openapi.json</a>`;
  const items = guides.map(
    ({ name, title, lead: about }) =>
      `<li><a href="docs/${name}?lang=${language}">${title}</a><p>${about.trim()}</p></li>`,
  );
  return shell({
    language,
    title: product,
    files: "docs/",
    self: "docs",
    head: '<link rel="stylesheet" href="docs/reference.css">\n<script src="docs/reference.js" defer></script>\n',
    main: `<h1>${product}</h1>
<p>${lead}</p>
<nav aria-labelledby="guides"><h2 id="guides">${heading}</h2>
<ul class="guides">
${items.join("\n")}
</ul></nav>
<section aria-labelledby="reference"><h2 id="reference">${reference}</h2>
<p>${document} ${link}</p>
<div id="endpoints"><p>${noScript} ${link}</p></div></section>
`,
  });
};

/** The page of one guide, at `/docs/<name>`. */
export const renderGuide = ({ name, title, html }: Guide, language: Language): string => {
  const { product, back } = words[language];
  return shell({
    language,
    title: `${title} · ${product}`,
    files: "",
    self: name,
    main: `<p><a href="../docs?lang=${language}">← ${back}</a></p>\n<article>\n${html}</article>\n`,
  });
};
