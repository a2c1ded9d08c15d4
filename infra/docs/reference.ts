import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const script = require.resolve("swagger-ui-dist/swagger-ui-bundle.js");
const style = require.resolve("swagger-ui-dist/swagger-ui.css");

/**
 * Starts Swagger UI without "Try it out", because credentials do not belong in a web page; the curl examples show the
 * calls. Its validator, a third-party service, is disabled.
 */
const start = `
window.addEventListener("DOMContentLoaded", () => {
  // Swagger UI treats every change of the fragment as its own link, and moves the focus
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

/** Includes the licence file that the package ships beside it. */
export const referenceScript = (): string =>
  [readFileSync(`${script}.LICENSE.txt`, "utf8"), withoutSourceMap(readFileSync(script, "utf8")), start].join(
    "\n",
  );

export const referenceStyle = (): string => withoutSourceMap(readFileSync(style, "utf8"));
