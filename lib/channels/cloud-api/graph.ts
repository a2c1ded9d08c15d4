import * as z from "zod/mini";
import { parseJson } from "#lib/read-text.ts";
import { ChannelFailure } from "../channel.ts";
import { type ChannelRequest, type ExchangeOptions, exchange } from "../exchange.ts";
import type { CloudApiSettings } from "./settings.ts";

/** @see https://developers.facebook.com/docs/graph-api/guides/error-handling */
const Rejection = z.object({ error: z.object({ code: z.int() }) });

export interface Answer {
  readonly status: number;
  /** Undefined for anything but JSON, such as an error page. */
  readonly json: unknown;
  /** Of the API's error; without one that of HTTP, if it says that the request was not accepted: 401 or 429. */
  readonly code: number | undefined;
}

/** The path is below the API's URL. */
export type Question = Pick<ChannelRequest, "method" | "path"> &
  Partial<Pick<ChannelRequest, "headers" | "body">> &
  Omit<ExchangeOptions, "connector">;

/** Makes requests to the Graph API, each once. @throws ChannelFailure without an answer. */
export const graphClient =
  (connector: ExchangeOptions["connector"]) =>
  async (
    { url, access_token }: Pick<CloudApiSettings, "url" | "access_token">,
    { method, path, headers, body = null, ...options }: Question,
  ): Promise<Answer> => {
    const { origin, pathname } = URL.parse(url) ?? {};
    if (!origin || !pathname) throw new ChannelFailure("not-connected", false);
    const { status, text } = await exchange(
      {
        ...{ origin, method, path: pathname.replace(/\/$/, "") + path, body },
        headers: { authorization: `Bearer ${access_token}`, accept: "application/json", ...headers },
      },
      { ...options, connector },
    );
    const json = parseJson(text);
    const { data } = Rejection.safeParse(json);
    return { status, json, code: data?.error.code ?? ([401, 429].includes(status) ? status : undefined) };
  };

export type Graph = ReturnType<typeof graphClient>;
