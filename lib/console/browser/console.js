/*
 * Polls the console and updates what has changed in place. The server renders everything: without this script
 * the forms work by reloading the page. JavaScript with types in comments, since it is served as it is.
 */
import { Idiomorph } from "./idiomorph.js";

const pollIntervalMs = 2_000;
const pollTimeoutMs = 5_000;
const actionTimeoutMs = 30_000;

/** @param {string} selector */
const find = (selector, root = document) => {
  const element = root.querySelector(selector);
  if (!(element instanceof HTMLElement)) throw new Error(`no element ${selector}`);
  return element;
};

const offline = find("#offline");
/** The path of this page. Its forms answer there, or at paths below it. */
const home = document.body.dataset.home ?? "/console";
/** @type {number | undefined} */
let timer;
/** @type {AbortController | undefined} */
let current;
let isSubmitting = false;
/** Whether the operator has not touched the page since the last poll; such polls do not prolong the login. */
let isIdle = true;
let updatedAt = new Date();

/** Where typed texts are kept while the operator logs in again. */
const typedKey = "typed";
const findFields = () =>
  /** @type {(HTMLInputElement | HTMLTextAreaElement)[]} */ ([
    ...document.querySelectorAll(
      "main textarea[id], main input[id]:is(:not([type]), [type=tel], [type=text])",
    ),
  ]);

const keepTyped = () => {
  const texts = findFields().map(({ id, value }) => [id, value]);
  sessionStorage.setItem(typedKey, JSON.stringify({ home, texts }));
};

/** Puts back what was typed before the login ended, on the page where it was. */
const restoreTyped = () => {
  const typed = JSON.parse(sessionStorage.getItem(typedKey) ?? "null");
  if (!typed) return;
  if (typed.home !== home) return location.replace(typed.home);
  sessionStorage.removeItem(typedKey);
  for (const field of findFields()) {
    const [, text] = typed.texts.find((/** @type {string[]} */ [id]) => id === field.id) ?? [];
    if (!text) continue;
    field.value = text;
    field.closest("details")?.setAttribute("open", "");
  }
};

/** @param {Response} response */
const show = async (response) => {
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  // another page, such as the login after a logout
  if (response.redirected && next.body.dataset.home !== home) {
    keepTyped();
    return location.assign(response.url);
  }
  if (!response.ok) throw new Error(`status ${response.status}`);
  // in place, so that focus, typed text, ticks and open details stay, and until the form is sent a choice
  const kept = ["value", "open", "checked", ...(isSubmitting ? [] : ["selected"])];
  const beforeAttributeUpdated = (/** @type {string} */ name, /** @type {Node} */ node) =>
    node instanceof HTMLProgressElement || !kept.includes(name);
  // what answers a form stays until the next form: a page that is polled does not have it
  const beforeNodeMorphed = (/** @type {Node} */ node) =>
    isSubmitting || !(node instanceof HTMLElement && "kept" in node.dataset);
  const callbacks = { beforeAttributeUpdated, beforeNodeMorphed };
  Idiomorph.morph(find("main"), find("main", next), { callbacks });
  document.title = next.title;
  updatedAt = new Date();
  offline.hidden = true;
  document.body.classList.remove("stale");
};

/** @param {"silent" | "unanswered"} name of the sentence, which the page has in the operator's language */
const showOffline = (name) => {
  if (!offline.hidden && !isSubmitting) return;
  const { [name]: sentence, retrying } = offline.dataset;
  offline.textContent = `${sentence} ${retrying} ${updatedAt.toLocaleTimeString(document.documentElement.lang)}.`;
  offline.hidden = false;
  document.body.classList.add("stale");
};

/**
 * Replaces the request in progress.
 *
 * @param {string} url
 * @param {RequestInit} options
 * @param {number} timeoutMs
 * @param {"silent" | "unanswered"} failure
 */
const load = async (url, options, timeoutMs, failure) => {
  clearTimeout(timer);
  current?.abort();
  const own = new AbortController();
  current = own;
  try {
    const signal = AbortSignal.any([own.signal, AbortSignal.timeout(timeoutMs)]);
    await show(await fetch(url, { ...options, signal }));
  } catch {
    if (current === own) showOffline(failure);
  }
  if (current === own) timer = setTimeout(poll, pollIntervalMs);
};

const poll = () => {
  if (document.hidden || isSubmitting) return;
  const options = isIdle ? { headers: { "x-idle": "1" } } : {};
  isIdle = true;
  load(home, options, pollTimeoutMs, "silent");
};

for (const type of ["keydown", "pointerdown"])
  document.addEventListener(type, () => {
    isIdle = false;
  });

document.addEventListener("visibilitychange", poll);

// before the upload: a server that rejects it closes the connection, and the answer may be lost
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "file") return;
  const { maxBytes, tooLarge = "" } = target.dataset;
  target.setCustomValidity((target.files?.[0]?.size ?? 0) > Number(maxBytes) ? tooLarge : "");
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.hasAttribute("data-live")) return;
  event.preventDefault();
  if (isSubmitting) return;
  isSubmitting = true;
  form.setAttribute("aria-busy", "true");
  const fields = new FormData(form);
  const texts = () => new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]));
  const body = form.enctype === "multipart/form-data" ? fields : texts();
  // a second button of a form has an action of its own
  const button = event.submitter;
  const action =
    button instanceof HTMLButtonElement && button.hasAttribute("formaction")
      ? button.formAction
      : form.action;
  await load(action, { method: "POST", body }, actionTimeoutMs, "unanswered");
  isSubmitting = false;
  form.removeAttribute("aria-busy");
  const notice = find("#notice");
  const stays = button instanceof HTMLButtonElement && "stay" in button.dataset;
  if (notice.dataset.kind !== "failed" && !stays) {
    form.reset();
    form.closest("details")?.removeAttribute("open");
  }
  // the form is hidden when the action has changed the state that it belongs to
  if (!form.checkVisibility()) notice.focus();
});

timer = setTimeout(poll, pollIntervalMs);
restoreTyped();
