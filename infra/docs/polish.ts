import { createHash } from "node:crypto";
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { placeholderBase } from "#lib/docs/built.ts";

const digest = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

/** Pagefind's own user interfaces, of which Starlight bundles one. */
const unusedFiles = "pagefind/pagefind-{ui,modular-ui,component-ui,highlight}.*";

/** Turns the base in a script into the folder above the script's own, because a built script cannot know its stage. */
const withOwnAddress = (script: string): string =>
  script.replace(
    new RegExp(`(["'\`])${placeholderBase}/docs(/?)\\1`, "g"),
    (_, __, slash) => `(new URL("..",import.meta.url).pathname${slash ? "" : ".slice(0,-1)"})`,
  );

/** The title of Pagefind's input is its only name, which not every screen reader reads. */
const withLabel = (script: string): string =>
  script.replace(/(pagefind-ui__search-input.{0,200}?["'`])title(["'`])/s, "$1aria-label$2");

/** The style sheet of code blocks knows a token by its style attribute. */
const withTokenClasses = (css: string): string =>
  css.replaceAll(/span\[style\^=["']?--["']?\]:not\(\[class\]\)/g, "span[class^=s-]");

/**
 * Wide tables scroll, also by keyboard. A button's visible text has to be in its name (WCAG 2.5.3): the keys of the
 * search are not.
 */
const tidy = (html: string): string =>
  html
    .replace(/<meta name="generator"[^>]*>/g, "")
    .replace(/<kbd class="sl-hidden.*?<\/kbd>\s*<kbd[^>]*>K<\/kbd>\s*<\/kbd>/s, "")
    .replace(new RegExp(`="(${placeholderBase}/docs[^"]*?)(?:/index)?\\.html(#[^"]*)?"`, "g"), '="$1$2"')
    .replace(/<table>.*?<\/table>/gs, '<div class="wide" tabindex="0">$&</div>');

/** The reference has a main element of its own. */
const withoutMain = (html: string): string =>
  html
    .replace(/<main data-pagefind-body/, "<div data-pagefind-body")
    .replace(/<\/main>(?!.*<\/main>)/s, "</div>")
    .replace(/<div class="content-panel/, '<div role="region" aria-labelledby="_top" class="content-panel');

/** Collects the style attributes of all pages as classes, because the policy allows no inline style. */
class Styles {
  readonly #names = new Map<string, string>();

  #nameOf(style: string): string {
    const known = this.#names.get(style);
    if (known) return known;
    const name = `s-${digest(style, 6)}`;
    this.#names.set(style, name);
    return name;
  }

  /** A style that a script removes is left out: the script could not remove a class. */
  takeFrom(html: string): string {
    return html.replace(/<[a-z][^>]* style="[^"]*"[^>]*>/g, (tag) => {
      const style = / style="([^"]*)"/.exec(tag)?.[1] ?? "";
      const bare = tag.replace(/ style="[^"]*"/, "");
      if (/^display: ?none/.test(style)) return bare;
      const name = this.#nameOf(style);
      return / class="/.test(bare)
        ? bare.replace(/ class="/, ` class="${name} `)
        : bare.replace(/^<[a-z][\w-]*/, `$& class="${name}"`);
    });
  }

  get text(): string {
    return [...this.#names].map(([style, name]) => `.${name}.${name}{${style}}`).join("\n");
  }
}

const hashOf = (script: string) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`;

/**
 * The policy of every page: everything loads from the page's own origin, without inline styles, and with those inline
 * scripts that the build wrote. The search runs WebAssembly.
 */
const composePolicy = (pages: readonly string[]): string => {
  const scripts = pages.flatMap((html) =>
    [...html.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = ""]) =>
      hashOf(text),
    ),
  );
  return [
    ...[
      "default-src 'none'",
      `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(scripts)].toSorted().join(" ")}`,
    ],
    ...[
      "style-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "worker-src 'self'",
    ],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join("; ");
};

/** Astro's folder of scripts and style sheets, whose names have digests of their contents before they are polished. */
const astroFolder = "_astro";

/** Makes the built site one that any stage can serve under a strict content security policy: see `policy.txt`. */
export const polish = (folder: string): void => {
  const list = (pattern: string) => globSync(pattern, { cwd: folder }).map((file) => `${folder}/${file}`);
  for (const file of list(unusedFiles)) rmSync(file);
  for (const file of list(`${astroFolder}/*.js`)) edit(file, (script) => withLabel(withOwnAddress(script)));
  for (const file of list(`${astroFolder}/ec.*.css`)) edit(file, withTokenClasses);
  const assets = list(`${astroFolder}/*`)
    .toSorted()
    .map((file) => readFileSync(file, "utf8"));
  const assetFolder = `${astroFolder}-${digest(assets.join(), 8)}`;
  renameSync(`${folder}/${astroFolder}`, `${folder}/${assetFolder}`);
  const withFolder = (text: string) => text.replaceAll(`${astroFolder}/`, `${assetFolder}/`);
  for (const file of list(`${assetFolder}/*.js`)) edit(file, withFolder);
  const styles = new Styles();
  const pages = list("**/*.html");
  for (const file of pages) edit(file, (html) => styles.takeFrom(tidy(withFolder(html))));
  const sheet = `${assetFolder}/inline.${digest(styles.text, 8)}.css`;
  writeFileSync(`${folder}/${sheet}`, styles.text);
  const link = `<link rel="stylesheet" href="${placeholderBase}/docs/${sheet}"></head>`;
  for (const file of pages) edit(file, (html) => html.replace("</head>", link));
  for (const file of list("**/reference.html")) edit(file, withoutMain);
  writeFileSync(`${folder}/policy.txt`, composePolicy(pages.map((file) => readFileSync(file, "utf8"))));
};
