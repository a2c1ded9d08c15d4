import type { FastifyInstance, FastifyRequest } from "fastify";
import { deadline, steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { type Actions, actionNames, perform } from "./action.ts";
import { icon, idiomorph, script, style } from "./assets.ts";
import type { BulkOptions } from "./bulk-action.ts";
import { serveBulk } from "./bulk-routes.ts";
import { formatCookie, isAddressedToConsole, isFromOwnPage, isOverTls } from "./login/cookie.ts";
import { type MessageFilter, type OperatorLogin, OperatorLogins } from "./login/operator-login.ts";
import { type LoginOptions, serveLogin } from "./login-routes.ts";
import { operatorsOnly } from "./operator-request.ts";
import { pageNames, pathOfPage, renderError, renderPage } from "./page.ts";
import { bulkHome } from "./panels/bulk.ts";
import { readFilter } from "./panels/messages.ts";
import { accountOf, fieldOf, languageCookie, languageOf, sendPage } from "./request.ts";
import type { ConsoleState } from "./state.ts";
import { isLanguage, languages } from "./words.ts";

export interface ConsoleOptions extends Actions, Pick<BulkOptions, "bulk">, Omit<LoginOptions, "now"> {
  /** @param account whose connection is shown; by default one that this task leads. */
  readonly readState: (filter: MessageFilter, account: string | undefined) => Promise<ConsoleState>;
  /** A clock for logins, in milliseconds. */
  readonly now?: () => number;
}

const maxBodyBytes = 4_096;
/** Less than the timeout of the page, 5 s. */
const stateTimeoutMs = 4_000;
const languageSeconds = 365 * 86_400;

/*
 * Referrer-Policy is not `no-referrer`: with it browsers send `Origin: null` with forms, and the origin could
 * not be checked.
 */
const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const findState = (
  { readState }: ConsoleOptions,
  { filter, account }: OperatorLogin,
): Promise<ConsoleState | undefined> =>
  deadline(readState(filter, account), stateTimeoutMs).catch((error: unknown) => {
    log.error("cannot read the state for the console", { error });
    return undefined;
  });

const serveAssets = (scope: FastifyInstance): void => {
  scope.get("/console.css", (_, reply) => reply.type("text/css; charset=utf-8").send(style));
  scope.get("/console.js", (_, reply) => reply.type("text/javascript; charset=utf-8").send(script));
  scope.get("/idiomorph.js", (_, reply) => reply.type("text/javascript; charset=utf-8").send(idiomorph));
  scope.get("/icon.svg", (_, reply) => reply.type("image/svg+xml").send(icon));
};

/** Renders errors as pages. */
const answerInPages = (scope: FastifyInstance): void => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxBodyBytes },
    (_, body, done) => done(null, new URLSearchParams(String(body))),
  );
  scope.addHook("onRequest", async (request, reply) => {
    reply.headers(headers);
    const language = languageOf(request);
    if (!isAddressedToConsole(request.headers))
      return sendPage(reply, 403, renderError(language, "rejected", "address"));
    if (request.method === "GET" || request.method === "HEAD" || isFromOwnPage(request.headers)) return;
    return sendPage(reply, 403, renderError(language, "rejected", "origin"));
  });
  scope.setNotFoundHandler((request, reply) =>
    sendPage(reply, 404, renderError(languageOf(request), "notFound", "noPage")),
  );
  scope.setErrorHandler((error: { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    const language = languageOf(request);
    if (status < 500) return sendPage(reply, status, renderError(language, "rejected", "invalidForm"));
    log.error("console request failed", { error });
    return sendPage(reply, 500, renderError(language, "error", "unexpected"));
  });
};

const homes: readonly string[] = [bulkHome, ...pageNames.map(pathOfPage)];

/** Finds the page that a form or a link was on. */
const pageBehind = ({ headers: { referer } }: FastifyRequest): string => {
  const path = referer && URL.canParse(referer) ? new URL(referer).pathname : "";
  return homes.includes(path) ? path : pathOfPage("now");
};

const serveLanguages = (scope: FastifyInstance): void => {
  scope.get<{ Params: { name: string } }>("/language/:name", (request, reply) => {
    const { name } = request.params;
    if (!isLanguage(name)) return reply.callNotFound();
    const options = { maxAgeSeconds: languageSeconds, isSecure: isOverTls(request) };
    return reply
      .header("set-cookie", formatCookie(languageCookie, name, options))
      .redirect(pageBehind(request), 303);
  });
};

const serveConsole = (
  scope: FastifyInstance,
  options: ConsoleOptions & LoginOptions,
  logins: OperatorLogins,
) => {
  const asOperator = operatorsOnly(options, logins);
  for (const name of pageNames)
    scope.get(
      pathOfPage(name).replace(/^\/console/, "") || "/",
      asOperator(async (login, request, reply) => {
        const { operator, notice, filter } = login;
        const state = await findState(options, login);
        const language = languageOf(request);
        const say = languages[language];
        const view = { operator, state, notice, filter, now: new Date(), language, say };
        return sendPage(reply, 200, renderPage(view, name));
      }),
    );
  scope.post(
    "/search",
    asOperator(async (login, request, reply) => {
      const filter = readFilter(fieldOf(request, "query"), fieldOf(request, "sender"));
      const { phone } = filter;
      try {
        if (phone !== undefined) await options.acts.record(login.operator, "search", maskPhone(phone));
        Object.assign(login, { filter, notice: undefined });
      } catch (error) {
        log.error("a console action could not be recorded", { action: "search", error });
        const text = languages[languageOf(request)]("notices.notRecorded");
        login.notice = { kind: "failed", text };
      }
      return reply.redirect(pathOfPage("messages"), 303);
    }),
  );
  scope.post(
    "/account",
    asOperator(async (login, request, reply) => {
      Object.assign(login, { account: accountOf(request), notice: undefined });
      return reply.redirect("/console", 303);
    }),
  );
  for (const name of actionNames)
    scope.post(
      `/${name}`,
      asOperator(async (login, request, reply) => {
        const form = {
          operator: login.operator,
          account: accountOf(request),
          field: (field: string) => fieldOf(request, field),
          say: languages[languageOf(request)],
        };
        login.notice = await perform(options, name, form);
        // without the notice's text: it may contain the pairing code
        const result = login.notice.kind;
        log.info("console action", { operator: login.operator.id, action: name, result });
        return reply.redirect(pageBehind(request), 303);
      }),
    );
};

/**
 * Registers the operator's console at `/console`: what is wrong and what to do, the messages and why they wait, pause,
 * linking and unlinking. The operators' logins are stored in the memory of this task.
 */
export const registerConsole = (server: FastifyInstance, options: ConsoleOptions): void => {
  const now = options.now ?? steadyNow;
  const logins = new OperatorLogins(now);
  server.register(
    async (scope) => {
      answerInPages(scope);
      serveAssets(scope);
      serveLanguages(scope);
      serveLogin(scope, { ...options, now }, logins);
      serveConsole(scope, { ...options, now }, logins);
      // in a scope of its own: only its forms have files
      scope.register(async (bulk) => serveBulk(bulk, { ...options, now }, logins));
    },
    { prefix: "/console" },
  );
};
