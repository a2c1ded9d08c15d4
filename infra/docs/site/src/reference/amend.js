const copy = { en: "Copy", id: "Salin" };

/** Texts of Scalar that its translations do not reach. */
const untranslated = {
  "Select Auth Type": "Pilih jenis autentikasi",
  "No authentication selected": "Belum ada autentikasi yang dipilih",
  Copy: "Salin",
  Copied: "Disalin",
};

const translate = (element) => {
  for (const node of element.childNodes) {
    const text = node.nodeType === Node.TEXT_NODE ? node.data.trim() : "";
    if (text in untranslated) node.data = node.data.replace(text, untranslated[text]);
  }
};

/**
 * Adds what Scalar leaves out for assistive technology: names of buttons and links that show only an icon, and access
 * by keyboard to code that scrolls.
 */
export const amend = (place, lang) => {
  for (const element of place.querySelectorAll("button:not([aria-label]), a[href]:not([aria-label])"))
    if (!element.innerText.trim()) element.ariaLabel = element.textContent.trim() || copy[lang];
  for (const header of place.querySelectorAll("header:not([role])")) header.role = "none";
  for (const code of place.querySelectorAll("code.custom-scroll:not([tabindex])")) code.tabIndex = 0;
  if (lang === "id") for (const element of place.querySelectorAll("button, div, span, p")) translate(element);
};
