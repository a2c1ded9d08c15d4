import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { awaitWithin } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyAttempts, wrongLogin } from "#lib/faults/table.ts";
import { log } from "#lib/log.ts";
import { type Actions, perform } from "./action.ts";
import { type Credential, matches } from "./credential.ts";
import { icon } from "./icon.ts";
import { isFromOwnPage } from "./origin.ts";
import { renderLogin, renderPage, renderRefusal } from "./page.ts";
import { script } from "./script.ts";
import type { ConsoleState } from "./state.ts";
import { style } from "./style.ts";
import { Throttle } from "./throttle.ts";
import { type Visit, Visits } from "./visit.ts";

export interface ConsoleOptions extends Actions {
  /** The credentials that are valid now: one, or two while they are rotated. */
  readonly findCredentials: () => Promise<readonly Credential[]>;
  readonly readState: () => Promise<ConsoleState>;
  /** The clock, in Unix milliseconds. */
  readonly now?: () => number;
}

/** Forms of a few short fields. */
const maxBodyBytes = 4_096;
/** The page asks again after five seconds. */
const maxStateMs = 4_000;

/*
 * Referrer-Policy is not `no-referrer`: browsers then send `Origin: null` with a form, and the origin could
 * not be compared.
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

/** A login that is refused: the status, what the page says, and when it may be tried again. */
const logIn = async (
  { findCredentials }: ConsoleOptions,
  throttle: Throttle,
  request: FastifyRequest,
): Promise<void> => {
  const waitSeconds = throttle.begin(request.ip);
  if (waitSeconds > 0) throw new Fault(tooManyAttempts(waitSeconds));
  const credentials = await findCredentials().catch((cause: unknown) => {
    throttle.forgive(request.ip);
    log.error("the console's credentials cannot be read", { error: cause });
    const message =
      "The credentials cannot be checked: Secrets Manager does not answer. Try again in a moment.";
    throw new Fault({ status: 503, code: "unavailable", message }, { cause });
  });
  const presented = { username: fieldOf(request, "username"), password: fieldOf(request, "password") };
  if (!matches(credentials, presented)) {
    log.warn("login at the console refused", { source: request.ip });
    throw new Fault(wrongLogin);
  }
  throttle.forgive(request.ip);
};

const findState = ({ readState }: ConsoleOptions): Promise<ConsoleState | undefined> =>
  awaitWithin(maxStateMs, readState()).catch((error: unknown) => {
    log.error("the console cannot read the state", { error });
    return undefined;
  });

const serveAssets = (scope: FastifyInstance): void => {
  scope.get("/console.css", (_, reply) => reply.type("text/css; charset=utf-8").send(style));
  scope.get("/console.js", (_, reply) => reply.type("text/javascript; charset=utf-8").send(script));
  scope.get("/icon.svg", (_, reply) => reply.type("image/svg+xml").send(icon));
};

/** Every answer of the console is a page, also a refusal. */
const answerInPages = (scope: FastifyInstance): void => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxBodyBytes },
    (_, body, done) => done(null, new URLSearchParams(String(body))),
  );
  scope.addHook("onRequest", async (request, reply) => {
    reply.headers(headers);
    if (request.method === "GET" || request.method === "HEAD" || isFromOwnPage(request.headers)) return;
    const text = "This was not sent by the console's own page. Open the console and do it there.";
    return sendPage(reply, 403, renderRefusal("Refused", text));
  });
  scope.setNotFoundHandler((_, reply) =>
    sendPage(reply, 404, renderRefusal("Not found", "There is nothing here.")),
  );
  scope.setErrorHandler((error: { statusCode?: number }, _, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500)
      return sendPage(reply, status, renderRefusal("Refused", "The form could not be understood."));
    log.error("the console failed", { error });
    return sendPage(reply, 500, renderRefusal("Failed", "Something went wrong; the task's log says what."));
  });
};

const serveLogin = (scope: FastifyInstance, options: ConsoleOptions, visits: Visits, now: () => number) => {
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
    visits.end(request.headers.cookie);
    return reply.header("set-cookie", visits.begin(username)).redirect("/console", 303);
  });
  scope.post("/logout", (request, reply) =>
    reply.header("set-cookie", visits.end(request.headers.cookie)).redirect("/console/login", 303),
  );
};

const serveConsole = (scope: FastifyInstance, options: ConsoleOptions, visits: Visits, now: () => number) => {
  const asOperator =
    (answer: (visit: Visit, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const visit = visits.find(request.headers.cookie);
      return visit ? answer(visit, request, reply) : reply.redirect("/console/login", 303);
    };

  scope.get(
    "/",
    asOperator(async ({ username, notice }, _, reply) => {
      const state = await findState(options);
      return sendPage(reply, 200, renderPage({ username, state, notice, now: new Date(now()) }));
    }),
  );
  for (const name of ["pause", "resume", "pairing-code", "unlink"] as const)
    scope.post(
      `/${name}`,
      asOperator(async (visit, request, reply) => {
        visit.notice = await perform(options, name, (field) => fieldOf(request, field));
        // not the notice's text: it may be the pairing code
        log.info("action at the console", {
          operator: visit.username,
          action: name,
          result: visit.notice.kind,
        });
        return reply.redirect("/console", 303);
      }),
    );
};

/**
 * The operator's page of the messenger, at `/console`: its state, and pause, linking and unlinking.
 * It has a login of its own, in this task's memory.
 *
 * @example registerConsole(server, { findCredentials, readState, setPaused, requestPairingCode, unlink });
 */
export const registerConsole = (server: FastifyInstance, options: ConsoleOptions): void => {
  const now = options.now ?? Date.now;
  const visits = new Visits(now);
  server.register(
    async (scope) => {
      answerInPages(scope);
      serveAssets(scope);
      serveLogin(scope, options, visits, now);
      serveConsole(scope, options, visits, now);
    },
    { prefix: "/console" },
  );
};
