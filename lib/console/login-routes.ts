import { setTimeout } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { formatCookie, isFromElsewhere, isOverTls, readCookie } from "./login/cookie.ts";
import type { Issuer } from "./login/issuer.ts";
import { findAgain, findOperator, type LocalUser } from "./login/local-users.ts";
import type { Method, OperatorLogins } from "./login/operator-login.ts";
import { PendingLogins } from "./login/pending-login.ts";
import type { Operator } from "./login/roles.ts";
import { Throttle } from "./login/throttle.ts";
import { renderContinue, renderLogin } from "./page.ts";
import type { Acts } from "./panels/acts.ts";
import { fieldOf, languageOf, sendPage } from "./request.ts";
import { languages } from "./words.ts";

export interface LoginOptions {
  /** Lists the operators whose passwords the console checks itself. */
  readonly findUsers: () => Promise<readonly LocalUser[]>;
  /** Where operators log in instead. */
  readonly issuer?: Issuer | undefined;
  readonly acts: Acts;
  /** A clock for logins, in milliseconds. */
  readonly now: () => number;
  /** Delays a login. */
  readonly wait?: ((ms: number) => Promise<unknown>) | undefined;
}

type Failure = "wrong" | "tooMany" | "unavailable" | "issuerDown" | "issuerRejected" | "noRole";
const statuses: Record<Failure, number> = {
  wrong: 401,
  tooMany: 429,
  unavailable: 503,
  issuerDown: 503,
  issuerRejected: 401,
  noRole: 403,
};

/** With the reason for the login page. */
class LoginFailure extends Error {
  readonly reason: Failure;

  constructor(reason: Failure) {
    super(reason);
    this.reason = reason;
  }
}

/** @throws LoginFailure */
const takeTurn = async ({ wait = setTimeout }: LoginOptions, throttle: Throttle): Promise<void> => {
  const waitMs = throttle.reserve();
  if (waitMs === undefined) throw new LoginFailure("tooMany");
  if (waitMs > 0) await wait(waitMs);
};

/** @throws LoginFailure */
const readUsers = ({ findUsers }: LoginOptions): Promise<readonly LocalUser[]> =>
  findUsers().catch((error: unknown) => {
    log.error("the console's credentials cannot be read", { error });
    throw new LoginFailure("unavailable");
  });

/** @throws LoginFailure */
const checkPassword = async (users: readonly LocalUser[], request: FastifyRequest): Promise<Operator> => {
  const presented = { username: fieldOf(request, "username"), password: fieldOf(request, "password") };
  const operator = await findOperator(users, presented);
  if (operator) return operator;
  log.warn("console login rejected", { source: request.ip });
  throw new LoginFailure("wrong");
};

/** Less than the page's timeout for its state. */
const confirmTimeoutMs = 1_000;

/** @returns the operator with the role of now; undefined after a removal. Nobody is logged out while that is unknown. */
export const confirmOperator = async (
  { issuer, findUsers }: LoginOptions,
  operator: Operator,
): Promise<Operator | undefined> => {
  if (issuer) return operator;
  const users = await deadline(findUsers(), confirmTimeoutMs).catch(() => undefined);
  return users ? findAgain(users, operator) : operator;
};

/** Serves the login, by password or at the issuer, and the logout. */
export const serveLogin = (scope: FastifyInstance, options: LoginOptions, logins: OperatorLogins): void => {
  const { issuer, acts, now } = options;
  const throttle = new Throttle(now);
  const pending = new PendingLogins(now);
  const method: Method = issuer ? "issuer" : "local";
  const note = (operator: Operator, action: string) =>
    acts.record(operator, action).catch((error: unknown) => {
      // the operator must see what is wrong also without the database
      log.error("a console action could not be recorded", { action, error });
    });

  const sendFailure = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    if (!(error instanceof LoginFailure)) throw error;
    const { reason } = error;
    if (reason === "tooMany") reply.header("retry-after", Throttle.retryAfterSeconds);
    const language = languageOf(request);
    const text = languages[language](`login.${reason}`);
    return sendPage(reply, statuses[reason], renderLogin(language, method, text));
  };
  const begin = (request: FastifyRequest, reply: FastifyReply, operator: Operator): FastifyReply => {
    log.info("operator logged in", { operator: operator.id, name: operator.name, role: operator.role });
    void note(operator, "login");
    logins.end(request.headers.cookie, false);
    return reply.header("set-cookie", logins.begin(operator, method, isOverTls(request)));
  };

  scope.get("/login", (request, reply) => sendPage(reply, 200, renderLogin(languageOf(request), method)));
  scope.post("/logout", (request, reply) => {
    const login = logins.find(request.headers.cookie, true);
    if (login) void note(login.operator, "logout");
    return reply
      .header("set-cookie", logins.end(request.headers.cookie, isOverTls(request)))
      .redirect("/console/login", 303);
  });
  if (!issuer) {
    scope.post("/login", async (request, reply) => {
      try {
        await takeTurn(options, throttle);
        // before the check: those of others must not wait for a slow read
        const users = await readUsers(options);
        const operator = await throttle.check(() => checkPassword(users, request));
        return begin(request, reply, operator).redirect("/console", 303);
      } catch (error) {
        return sendFailure(request, reply, error);
      }
    });
    return;
  }

  const cookieName = "console-sign-in";
  // Lax: it must arrive with the navigation back from the issuer
  const cookie = (value: string, maxAgeSeconds: number, request: FastifyRequest) =>
    formatCookie(cookieName, value, { maxAgeSeconds, isSecure: isOverTls(request), sameSite: "Lax" });
  /** @throws LoginFailure */
  const reachIssuer = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      const reason = issuer.explain(error);
      // the error may contain tokens
      const { name, code } = error as { name?: string; code?: string };
      log.warn("console login at the issuer failed", { reason, name, code });
      throw new LoginFailure(reason);
    });

  scope.get("/sign-in", async (request, reply) => {
    // another site could begin so many that those of the operators are forgotten
    if (isFromElsewhere(request.headers)) return reply.redirect("/console/login", 303);
    try {
      const scheme = isOverTls(request) ? "https" : "http";
      const redirectUri = `${scheme}://${request.headers.host}/console/callback`;
      const { url, attempt } = await reachIssuer(issuer.begin(redirectUri));
      const maxAgeSeconds = PendingLogins.lifetimeMs / 1_000;
      return reply
        .header("set-cookie", cookie(pending.add(attempt), maxAgeSeconds, request))
        .redirect(url.href, 303);
    } catch (error) {
      return sendFailure(request, reply, error);
    }
  });
  scope.get("/callback", async (request, reply) => {
    try {
      const attempt = pending.take(readCookie(request.headers.cookie, cookieName));
      if (!attempt) throw new LoginFailure("issuerRejected");
      await takeTurn(options, throttle);
      const operator = await reachIssuer(issuer.finish(request.url, attempt));
      if (!operator) throw new LoginFailure("noRole");
      begin(request, reply, operator).header("set-cookie", cookie("", 0, request));
      return sendPage(reply, 200, renderContinue(languageOf(request)));
    } catch (error) {
      return sendFailure(request, reply, error);
    }
  });
};
