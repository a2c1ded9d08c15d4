import type { FastifyReply, FastifyRequest } from "fastify";
import { readCookie } from "./login/cookie.ts";
import { isLanguage, type Language } from "./words.ts";

export const languageCookie = "console-language";

/** @param header `Accept-Language`. @returns the language that the reader prefers among those of the console. */
const preferred = (header: string): Language => {
  const wanted = header.split(",").map((entry, index) => {
    const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
    const weight = parameters
      .find((parameter) => parameter.trim().startsWith("q="))
      ?.trim()
      .slice(2);
    // "in" is the old code of Indonesian
    const name = tag.split("-")[0]?.replace(/^in$/, "id");
    return { name, weight: Number(weight ?? 1), index };
  });
  const known = wanted.filter(({ name, weight }) => isLanguage(name) && weight > 0);
  const [best] = known.toSorted((one, other) => other.weight - one.weight || one.index - other.index);
  return isLanguage(best?.name) ? best.name : "en";
};

/** The language that was chosen with the switch of the page, or that the browser prefers. */
export const languageOf = ({ headers }: FastifyRequest): Language => {
  const chosen = readCookie(headers.cookie, languageCookie);
  return isLanguage(chosen) ? chosen : preferred(headers["accept-language"] ?? "");
};

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
