import type { FastifyReply, FastifyRequest } from "fastify";
import { readCookie } from "./login/cookie.ts";
import { findLanguage, type Language } from "./words/language.ts";

export const languageCookie = "console-language";

export const languageOf = ({ headers }: FastifyRequest): Language =>
  findLanguage(readCookie(headers.cookie, languageCookie), headers["accept-language"]);

/** @returns an empty text if the form has no such field. */
export const fieldOf = ({ body }: FastifyRequest, name: string): string => {
  if (!(body instanceof URLSearchParams || body instanceof FormData)) return "";
  const value = body.get(name);
  return typeof value === "string" ? value : "";
};

/** The account that a form is about; undefined for the only one. */
export const accountOf = ({ query }: FastifyRequest): string | undefined => {
  const { account } = query as { account?: unknown };
  return typeof account === "string" ? account : undefined;
};

export const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  reply.code(status).type("text/html; charset=utf-8").send(page);
