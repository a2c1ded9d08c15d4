import { phrases, untranslated } from "./indonesian.js";

const copy = { en: "Copy", id: "Salin" };

const translate = (text) => {
  const label = text.trim();
  if (Object.hasOwn(untranslated, label)) return text.replace(label, untranslated[label]);
  const phrase = phrases.find(([pattern]) => pattern.test(label));
  return phrase ? label.replace(...phrase) : text;
};

/** Only what changes is written: Scalar renders the rest. */
const translateAll = (place) => {
  for (const element of place.querySelectorAll(":not(pre *, code *)")) {
    for (const node of element.childNodes) {
      // what a person types stays as it is
      const isLabel = node.nodeType === Node.TEXT_NODE && !element.isContentEditable;
      const text = isLabel ? translate(node.data) : "";
      if (text && text !== node.data) node.data = text;
    }
    for (const name of ["aria-label", "data-placeholder", "title"]) {
      const label = element.getAttribute(name);
      if (label && translate(label) !== label) element.setAttribute(name, translate(label));
    }
  }
};

/**
 * Adds what Scalar leaves out for assistive technology: names of buttons and links that show only an icon, and access
 * by keyboard to code that scrolls. Translates the labels that its translations do not reach.
 */
export const amend = (place, lang) => {
  for (const element of place.querySelectorAll("button:not([aria-label]), a[href]:not([aria-label])"))
    if (!element.innerText.trim()) element.ariaLabel = element.textContent.trim() || copy[lang];
  for (const header of place.querySelectorAll("header:not([role])")) header.role = "none";
  for (const code of place.querySelectorAll("code.custom-scroll:not([tabindex])")) code.tabIndex = 0;
  if (lang === "id") translateAll(place);
};
