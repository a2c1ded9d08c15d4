import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const packageFile = (name: string) =>
  readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`), "utf8");

/**
 * Swagger UI with nothing to send: a page is no place for credentials, and the lines for the shell show how to
 * ask. Its validator, which is a service of somebody else, is off.
 */
const start = `
window.addEventListener("DOMContentLoaded", () => {
  const nothing = () => () => null;
  window.SwaggerUIBundle({
    url: "openapi.json?lang=" + document.documentElement.lang,
    dom_id: "#endpoints",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    filter: true,
    validatorUrl: null,
    supportedSubmitMethods: [],
    plugins: [{ wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
  });
});
`;

const withoutSourceMap = (text: string) => text.replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/gm, "");

export const referenceScript = (): string =>
  `${packageFile("swagger-ui-bundle.js.LICENSE.txt")}\n${withoutSourceMap(packageFile("swagger-ui-bundle.js"))}\n${start}`;

export const referenceStyle = (): string => withoutSourceMap(packageFile("swagger-ui.css"));
