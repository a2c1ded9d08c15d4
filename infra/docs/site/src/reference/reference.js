import { createApiReference } from "@scalar/api-reference";
import "@scalar/api-reference/style.css";
import "./reference.css";
import { amend } from "./amend.js";
import { indonesian } from "./indonesian.js";

const place = document.getElementById("reference");
const { lang } = document.documentElement;
const isDark = () => document.documentElement.dataset.theme !== "light";

/** Requests are sent to the imitated stage alone: credentials do not belong in a web page. */
const isImitated = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

const configuration = () => ({
  url: place.dataset.document,
  darkMode: isDark(),
  hideDarkModeToggle: true,
  hideSearch: true, // the page has a search
  hideTestRequestButton: !isImitated,
  hideClientButton: true,
  hideModels: true,
  defaultOpenAllTags: true,
  documentDownloadType: "none",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  hiddenClients: true, // the document has samples, which are tested
  localization: lang === "id" ? { locale: "id", translations: indonesian } : { locale: "en" },
});

place.replaceChildren();
new MutationObserver(() => amend(place, lang)).observe(place, {
  ...{ childList: true, subtree: true, characterData: true },
  attributeFilter: ["aria-label", "data-placeholder", "title"],
});
createApiReference(place, configuration());

/** Scalar knows the scheme by these classes. */
const showScheme = () => {
  document.body.classList.toggle("dark-mode", isDark());
  document.body.classList.toggle("light-mode", !isDark());
};
new MutationObserver(showScheme).observe(document.documentElement, { attributeFilter: ["data-theme"] });
