import { setTimeout } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { deadline } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyAttempts, wrongLogin } from "#lib/faults/table.ts";
import { log } from "#lib/log.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { type Actions, actionNames, perform } from "./action.ts";
import { icon, idiomorph, script, style } from "./assets.ts";
import { type Credential, matches, type OperatorLogin, OperatorLogins } from "./operator-login.ts";
import { isAddressedToConsole, isFromOwnPage, isOverTls } from "./origin.ts";
import { renderError, renderLogin, renderPage } from "./page.ts";
import type { ConsoleState } from "./state.ts";
import { Throttle } from "./throttle.ts";

export interface ConsoleOptions extends Actions {
  /** Lists the valid credentials: one, or two during a rotation. */
  readonly findCredentials: () => Promise<readonly Credential[]>;
  readonly readState: () => Promise<ConsoleState>;
  /** A clock for logins, in milliseconds. */
  readonly now?: () => number;
  /** Delays a login. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

const maxBodyBytes = 4_096;
/** Less than the timeout of the page, 5 s. */
const stateTimeoutMs = 4_000;

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

const sendPage = (reply: FastifyReply, status: number, page: string) =>
  reply.code(status).type("text/html; charset=utf-8").send(page);

const fieldOf = ({ body }: FastifyRequest, name: string): string =>
  body instanceof URLSearchParams ? (body.get(name) ?? "") : "";

/** @throws Fault 401, 429 or 503 with the message for the login page. */
const logIn = async (
  { findCredentials, wait = setTimeout }: ConsoleOptions,
  throttle: Throttle,
  request: FastifyRequest,
): Promise<void> => {
  const waitMs = throttle.reserve();
  if (waitMs === undefined) throw new Fault(tooManyAttempts(Throttle.retryAfterSeconds));
  if (waitMs > 0) await wait(waitMs);
  const credentials = await findCredentials().catch((cause: unknown) => {
    log.error("the console's credentials cannot be read", { error: cause });
    const message =
      "The credentials cannot be checked: Secrets Manager is not responding. Try again in a moment.";
    throw new Fault({ status: 503, code: "unavailable", message }, { cause });
  });
  const presented = { username: fieldOf(request, "username"), password: fieldOf(request, "password") };
  if (!matches(credentials, presented)) {
    log.warn("console login rejected", { source: request.ip });
    throw new Fault(wrongLogin);
  }
};

const findState = ({ readState }: ConsoleOptions): Promise<ConsoleState | undefined> =>
  deadline(readState(), stateTimeoutMs).catch((error: unknown) => {
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
    if (!isAddressedToConsole(request.headers)) {
      const text = "The console has no such address. Open it as http://localhost with the forwarded port.";
      return sendPage(reply, 403, renderError("Rejected", text));
    }
    if (request.method === "GET" || request.method === "HEAD" || isFromOwnPage(request.headers)) return;
    const text = "The request did not come from a page of this console. Open the console and try again.";
    return sendPage(reply, 403, renderError("Rejected", text));
  });
  scope.setNotFoundHandler((_, reply) =>
    sendPage(reply, 404, renderError("Not found", "This page does not exist.")),
  );
  scope.setErrorHandler((error: { statusCode?: number }, _, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return sendPage(reply, status, renderError("Rejected", "The form is invalid."));
    log.error("console request failed", { error });
    return sendPage(
      reply,
      500,
      renderError("Error", "An unexpected error occurred; see the log of the task."),
    );
  });
};

const serveLogin = (
  scope: FastifyInstance,
  options: ConsoleOptions,
  logins: OperatorLogins,
  now: () => number,
) => {
  const throttle = new Throttle(now);
  scope.get("/login", (_, reply) => sendPage(reply, 200, renderLogin(undefined)));
  scope.post("/login", async (request, reply) => {
    try {
      await logIn(options, throttle, request);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.retryAfterSeconds !== undefined) reply.header("retry-after", error.retryAfterSeconds);
      return sendPage(reply, error.status, renderLogin(error.message));
    }
    const username = fieldOf(request, "username");
    log.info("operator logged in", { operator: username });
    logins.end(request.headers.cookie, false);
    return reply.header("set-cookie", logins.begin(username, isOverTls(request))).redirect("/console", 303);
  });
  scope.post("/logout", (request, reply) =>
    reply
      .header("set-cookie", logins.end(request.headers.cookie, isOverTls(request)))
      .redirect("/console/login", 303),
  );
};

const serveConsole = (scope: FastifyInstance, options: ConsoleOptions, logins: OperatorLogins) => {
  const asOperator =
    (answer: (login: OperatorLogin, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const login = logins.find(request.headers.cookie, request.headers["x-idle"] === "1");
      return login ? answer(login, request, reply) : reply.redirect("/console/login", 303);
    };

  scope.get(
    "/",
    asOperator(async ({ username, notice }, _, reply) => {
      const state = await findState(options);
      return sendPage(reply, 200, renderPage({ username, state, notice, now: new Date() }));
    }),
  );
  for (const name of actionNames)
    scope.post(
      `/${name}`,
      asOperator(async (login, request, reply) => {
        login.notice = await perform(options, name, (field) => fieldOf(request, field));
        // without the notice's text: it may contain the pairing code
        log.info("console action", {
          operator: login.username,
          action: name,
          result: login.notice.kind,
        });
        return reply.redirect("/console", 303);
      }),
    );
};

/**
 * Registers the operator's console at `/console`: the messenger's state, pause, linking and unlinking, and what to do
 * when WhatsApp rejects the login. The operators' logins are stored in the memory of this task.
 */
export const registerConsole = (server: FastifyInstance, options: ConsoleOptions): void => {
  const now = options.now ?? steadyNow;
  const logins = new OperatorLogins(now);
  server.register(
    async (scope) => {
      answerInPages(scope);
      serveAssets(scope);
      serveLogin(scope, options, logins, now);
      serveConsole(scope, options, logins);
    },
    { prefix: "/console" },
  );
};
