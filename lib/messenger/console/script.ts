/*
 * What the browser runs, as a template: esbuild inlines a module into the bundle and Node loads the same
 * module unbundled, while a text import would want a flag in Node and a file beside the bundle would be a
 * second thing to ship. Being JavaScript in a string it is neither typed nor linted, so it is kept small:
 * the server renders everything, this only brings the page up to date. Without it the forms work as well.
 */

/** Asks for the page every two seconds, and changes what is shown where it differs. */
export const script = `
const everyMs = 2000;
const patienceMs = 5000;
const actionPatienceMs = 30000;
const away = document.getElementById("away");
let timer;
let underWay;
let acting = false;

// Changes a node in place, so that focus, selection and what was typed stay. Children with an id are
// found again by it, others by their place.
const change = (now, next) => {
  if (now.nodeName !== next.nodeName || now.id !== next.id) return now.replaceWith(next.cloneNode(true));
  if (now.nodeType === Node.TEXT_NODE && now.data !== next.data) now.data = next.data;
  if (now.nodeType !== Node.ELEMENT_NODE) return;
  for (const name of now.getAttributeNames())
    if (!next.hasAttribute(name) && name !== "open") now.removeAttribute(name);
  for (const name of next.getAttributeNames())
    if (now.getAttribute(name) !== next.getAttribute(name)) now.setAttribute(name, next.getAttribute(name));
  changeChildren(now, next);
};

const changeChildren = (now, next) => {
  const byId = new Map([...now.children].filter(({ id }) => id).map((child) => [child.id, child]));
  let place = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    const known = wanted.id ? byId.get(wanted.id) : place && !place.id ? place : undefined;
    if (!known) {
      now.insertBefore(wanted.cloneNode(true), place);
      continue;
    }
    if (known !== place) now.insertBefore(known, place);
    place = known.nextSibling;
    change(known, wanted);
  }
  while (place) {
    const rest = place;
    place = rest.nextSibling;
    rest.remove();
  }
};

const show = async (response) => {
  // logged out meanwhile
  if (new URL(response.url).pathname !== "/console") return location.assign(response.url);
  if (!response.ok) throw new Error(String(response.status));
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  change(document.querySelector("main"), next.querySelector("main"));
  document.title = next.title;
  away.hidden = true;
  document.body.classList.remove("stale");
};

const showAway = (sentence) => {
  if (!away.hidden && !acting) return;
  away.textContent = sentence + " Trying again every 2 seconds; what you see is as of "
    + new Date().toLocaleTimeString("en-GB") + ".";
  away.hidden = false;
  document.body.classList.add("stale");
};

const load = async (url, options, waitMs, sentence) => {
  clearTimeout(timer);
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  try {
    await show(await fetch(url, { ...options, signal: AbortSignal.any([own.signal, AbortSignal.timeout(waitMs)]) }));
  } catch {
    if (underWay === own) showAway(sentence);
  }
  if (underWay === own) timer = setTimeout(poll, everyMs);
};

const poll = () => {
  if (!document.hidden && !acting) load("/console", {}, patienceMs, "The messenger does not answer.");
};

document.addEventListener("visibilitychange", poll);

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.hasAttribute("data-live")) return;
  event.preventDefault();
  if (acting) return;
  acting = true;
  form.setAttribute("aria-busy", "true");
  const body = new URLSearchParams(new FormData(form));
  await load(form.action, { method: "POST", body }, actionPatienceMs,
    "The messenger does not answer; it is not known whether it did what you asked.");
  acting = false;
  form.removeAttribute("aria-busy");
  const notice = document.getElementById("notice");
  if (notice.dataset.kind === "done") {
    form.reset();
    form.closest("details")?.removeAttribute("open");
  }
  // the form may have gone with the state it was for
  if (!form.checkVisibility()) notice.focus();
});

timer = setTimeout(poll, everyMs);
`;
