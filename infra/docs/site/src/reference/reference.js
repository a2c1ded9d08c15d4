import { createApiReference } from "@scalar/api-reference";
import "@scalar/api-reference/style.css";
import "./reference.css";
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
  hideTestRequestButton: !isImitated,
  hideClientButton: true,
  hideModels: true,
  documentDownloadType: "none",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  localization: lang === "id" ? { locale: "id", translations: indonesian } : { locale: "en" },
});

place.replaceChildren();
const reference = createApiReference(place, configuration());
new MutationObserver(() => reference.updateConfiguration?.(configuration())).observe(document.documentElement, {
  attributeFilter: ["data-theme"],
});
