import type { FastifyReply, FastifyRequest } from "fastify";
import { isOverTls } from "./login/cookie.ts";
import type { OperatorLogin, OperatorLogins } from "./login/operator-login.ts";
import { confirmOperator, type LoginOptions } from "./login-routes.ts";

type Answer = (login: OperatorLogin, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Finds the login of a request's operator, who may still use the console. */
export const findLogin = async (
  options: LoginOptions,
  logins: OperatorLogins,
  { headers }: FastifyRequest,
): Promise<OperatorLogin | undefined> => {
  const login = logins.find(headers.cookie, headers["x-idle"] === "1");
  const operator = login && (await confirmOperator(options, login.operator));
  if (!login || !operator) return undefined;
  login.operator = operator;
  return login;
};

/** Ends the login of a request, and redirects to the login page. */
export const leadToLogin = (
  logins: OperatorLogins,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply =>
  reply
    .header("set-cookie", logins.end(request.headers.cookie, isOverTls(request)))
    .redirect("/console/login", 303);

/** Answers operators who have logged in, and redirects all others to the login page. */
export const operatorsOnly =
  (options: LoginOptions, logins: OperatorLogins) =>
  (answer: Answer) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const login = await findLogin(options, logins, request);
    return login ? answer(login, request, reply) : leadToLogin(logins, request, reply);
  };
