import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { composeDocument } from "#lib/openapi/document.ts";
import { type Language, languages } from "#lib/openapi/text.ts";
import { type DocumentName, documentNames } from "#lib/routes/docs.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { messagingApi } from "../aws/messaging-api.ts";
import { composeAssets } from "./assets.ts";
import { guideNames, readGuide } from "./guide.ts";
import { renderGuide, renderIndex } from "./page.ts";

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

const documented = {
  all: [integrationApi, messagingApi],
  integration: [integrationApi],
  messaging: [messagingApi],
} as const;

/** Composes an OpenAPI document of this version, with example addresses. */
const composeOpenapi = (name: DocumentName, language: Language): string => {
  const { version } = JSON.parse(read("../../package.json"));
  const document = composeDocument(documented[name], version, language);
  return `${JSON.stringify(document, null, 2)}\n`;
};

/** Returns the files of each documentation function, by name in its folder `docs/`. */
const composeFiles = () => {
  const { assets, files } = composeAssets();
  const documents = languages.flatMap((language) =>
    documentNames.map((name) => [`${name}.${language}.json`, composeOpenapi(name, language)] as const),
  );
  const guides = languages.flatMap((language) =>
    guideNames.map((name) => ({ language, guide: readGuide(name, language) })),
  );
  return {
    openapi: Object.fromEntries(documents),
    page: Object.fromEntries(
      languages.map((language) => [
        `index.${language}.html`,
        renderIndex(
          guides.filter((one) => one.language === language).map(({ guide }) => guide),
          language,
          assets,
        ),
      ]),
    ),
    file: {
      ...Object.fromEntries(
        guides.map(({ language, guide }) => [
          `${guide.name}.${language}.html`,
          renderGuide(guide, language, assets),
        ]),
      ),
      ...files,
    },
  };
};

/**
 * Writes the files that the documentation functions serve beside their bundles, and `openapi.json` for tools.
 *
 * @param folderOf returns the folder of a function's bundle.
 * @param output folder of the build.
 */
export const writeDocumentation = (folderOf: (fn: string) => string, output: string): void => {
  for (const [name, files] of Object.entries(composeFiles())) {
    const folder = `${folderOf(`docs/${name}`)}/docs`;
    mkdirSync(folder, { recursive: true });
    for (const [file, content] of Object.entries(files)) writeFileSync(`${folder}/${file}`, content);
  }
  writeFileSync(`${output}/openapi.json`, composeOpenapi("all", "en"));
};
