import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const script = require.resolve("swagger-ui-dist/swagger-ui-bundle.js");
const style = require.resolve("swagger-ui-dist/swagger-ui.css");

/**
 * Swagger UI with nothing to send: a page is no place for credentials, and the lines for the shell show how to
 * ask. Its validator, which is a service of somebody else, is off.
 */
const start = `
window.addEventListener("DOMContentLoaded", () => {
  // the reference takes every change of the fragment for one of its own links, and the focus with it
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("content").focus();
  });
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

/** With the licences of what it holds, which stand beside it in the package. */
export const referenceScript = (): string =>
  [readFileSync(`${script}.LICENSE.txt`, "utf8"), withoutSourceMap(readFileSync(script, "utf8")), start].join(
    "\n",
  );

export const referenceStyle = (): string => withoutSourceMap(readFileSync(style, "utf8"));
