import { readFileSync, writeFileSync } from "node:fs";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";

/** Written by `infra/docs/site.ts`. */
const { base, words, groups } = JSON.parse(readFileSync(new URL("./settings.json", import.meta.url), "utf8"));

/** Lists the packages whose code is sent to browsers, for the bill of materials. */
const packageList = () => {
  const folders = new Set();
  return {
    name: "package-list",
    generateBundle(_, bundle) {
      if (this.environment?.name !== "client") return;
      for (const { modules = {} } of Object.values(bundle))
        for (const [id, { renderedLength }] of Object.entries(modules))
          if (renderedLength > 0)
            folders.add(/node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
    },
    closeBundle() {
      const styled = ["@astrojs/starlight", "@scalar/api-reference", "expressive-code", "pagefind"];
      for (const name of styled) folders.add(`node_modules/${name}`);
      const list = [...folders]
        .filter(Boolean)
        .toSorted()
        .map((folder) => `${folder}/`);
      writeFileSync(new URL("./packages.json", import.meta.url), JSON.stringify(list));
    },
  };
};

/** `## Heading {#anchor}`, with which `infra/docs/content.ts` sets anchors. */
const headingAttributes = {
  name: "heading-attributes",
  hooks: {
    "astro:config:setup": ({ config }) => {
      config.markdown.processor.options.features.headingAttributes = true;
    },
  },
};

/** The languages of the reference's examples, of the 51 that Scalar highlights. */
const highlighted =
  "bash, curl: curlLanguage, http, javascript: javascript$1, json, php, plaintext, python, shell, typescript, xml";

const fewerLanguages = {
  name: "fewer-languages",
  transform: {
    filter: { id: /@scalar\/code-highlight\/.*\/languages\.js$/ },
    handler: (code) => code.replace(/(?<=var standardLanguages = \{)[^}]+(?=\})/, () => highlighted),
  },
};

/**
 * Scalar's modules have no side effects. Most of its packages do not declare that, and then the bundle of the reference
 * contains what it never calls, and the dialog that sends requests, which is loaded when it is opened.
 */
const hasSideEffects = (id) => !/@scalar\/.*\.js$/.test(id);

export default defineConfig({
  base,
  outDir: "./built",
  cacheDir: "./cache",
  trailingSlash: "never",
  build: { format: "file", inlineStylesheets: "never" },
  devToolbar: { enabled: false },
  vite: {
    plugins: [packageList(), fewerLanguages],
    build: {
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 4_000,
      rolldownOptions: { treeshake: { moduleSideEffects: hasSideEffects } },
    },
  },
  integrations: [
    headingAttributes,
    starlight({
      title: { en: words.en.product, id: words.id.product },
      defaultLocale: "root",
      locales: {
        root: { label: "English", lang: "en" },
        id: { label: "Bahasa Indonesia", lang: "id" },
      },
      disable404Route: true,
      customCss: ["./src/style.css"],
      favicon: "/icon.svg",
      sidebar: [
        { label: words.en.reference, translations: { id: words.id.reference }, link: "/reference" },
        ...groups,
      ],
      expressiveCode: {
        themes: ["github-dark-high-contrast", "github-light-high-contrast"],
        styleOverrides: { borderRadius: "0.5rem" },
        defaultProps: { wrap: true, frame: "none" },
      },
    }),
  ],
});
