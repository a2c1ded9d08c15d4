import { type Html, html } from "#lib/html.ts";
import { type Language, languages } from "#lib/openapi/text.ts";
import { type Guide, guidesByReader, type Reader } from "./guide.ts";

const names: Readonly<Record<Language, string>> = { en: "English", id: "Bahasa Indonesia" };

const words = {
  en: {
    product: "Municipal Integration API",
    skip: "Skip to content",
    language: "Language",
    guides: "Guides",
    readers: {
      developer: "Calling the APIs",
      operator: "Operating a stage",
      contributor: "Changing the code",
    },
    reference: "Reference",
    lead: "How to call the city's employee, resident, tourism and messaging services. The guides start with a first request. The reference lists every endpoint with a curl example, and every error with its fix.",
    document: "The OpenAPI document:",
    noScript: "The reference needs JavaScript. Without it, read the OpenAPI document:",
    back: "All guides and the reference",
  },
  id: {
    product: "API Integrasi Kota",
    skip: "Langsung ke isi",
    language: "Bahasa",
    guides: "Panduan",
    readers: {
      developer: "Memanggil API",
      operator: "Mengoperasikan stage",
      contributor: "Mengubah kode",
    },
    reference: "Referensi",
    lead: "Cara memanggil layanan kepegawaian, kependudukan, pariwisata, dan perpesanan kota. Panduan dimulai dari permintaan pertama. Referensi memuat setiap endpoint dengan contoh curl, dan setiap error dengan cara mengatasinya.",
    document: "Dokumen OpenAPI:",
    noScript: "Referensi membutuhkan JavaScript. Tanpa JavaScript, baca dokumen OpenAPI:",
    back: "Semua panduan dan referensi",
  },
} as const satisfies Readonly<Record<Language, object>>;

/** Names of the script and the style sheets, with digests of their contents. */
export interface Assets {
  readonly pageStyle: string;
  readonly referenceStyle: string;
  readonly referenceScript: string;
}

interface Shell {
  readonly language: Language;
  readonly assets: Assets;
  readonly title: string;
  /** Relative path of the folder `docs/`. */
  readonly files: string;
  /** Relative address of the page, without its language. */
  readonly self: string;
  readonly head?: Html;
  readonly main: Html;
}

const shell = ({ language, assets, title, files, self, head, main }: Shell): string => {
  const { product, skip, language: choose } = words[language];
  const current = html` aria-current="true"`;
  const switches = languages.map(
    (other) =>
      html`<a href="${self}?lang=${other}" lang="${other}" hreflang="${other}"${other === language ? current : undefined}>${names[other]}</a> `,
  );
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}${assets.pageStyle}">
${head}</head>
<body>
<a class="skip" href="#content">${skip}</a>
<header>
<p class="product">${product}</p>
<nav aria-label="${choose}">${switches}</nav>
</header>
<main id="content" tabindex="-1">
${main}</main>
</body>
</html>
`.text;
};

const referenceFiles = ({
  referenceStyle,
  referenceScript,
}: Assets) => html`<link rel="stylesheet" href="docs/${referenceStyle}">
<script src="docs/${referenceScript}" defer></script>
`;

/** Renders the page at `/docs`: the guides by reader, and the reference, which its script renders. */
export const renderIndex = (guides: readonly Guide[], language: Language, assets: Assets): string => {
  const { product, guides: heading, readers, reference, lead, document, noScript } = words[language];
  const link = html`<a href="openapi.json?lang=${language}">openapi.json</a>`;
  const item = ({ name, title, lead: about }: Guide) =>
    html`<li><a href="docs/${name}?lang=${language}">${title}</a><p>${about}</p></li>
`;
  const group = (reader: Reader) => html`<h3>${readers[reader]}</h3>
<ul class="guides">
${guides.filter(({ name }) => guidesByReader[reader].includes(name)).map(item)}</ul>
`;
  return shell({
    language,
    assets,
    title: product,
    files: "docs/",
    self: "docs",
    head: referenceFiles(assets),
    main: html`<h1>${product}</h1>
<p>${lead}</p>
<nav aria-labelledby="guides"><h2 id="guides">${heading}</h2>
${(Object.keys(guidesByReader) as Reader[]).map(group)}</nav>
<section aria-labelledby="reference"><h2 id="reference">${reference}</h2>
<p>${document} ${link}</p>
<div id="endpoints"><p>${noScript} ${link}</p></div></section>
`,
  });
};

/** Renders the page of a guide at `/docs/<name>`. */
export const renderGuide = ({ name, title, body }: Guide, language: Language, assets: Assets): string => {
  const { product, back } = words[language];
  return shell({
    language,
    assets,
    title: `${title} · ${product}`,
    files: "",
    self: name,
    main: html`<p><a href="../docs?lang=${language}">← ${back}</a></p>
<article>
${body}</article>
`,
  });
};
