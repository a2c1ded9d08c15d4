import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { serve } from "../steps/http-server.ts";
import { openArrivals } from "./callback-arrivals.ts";

/** A call that a receiver has got. */
export interface Call {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly data: { readonly id: string; readonly status: string; readonly reason?: string };
}

type Answer =
  | number
  | "hang"
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/**
 * A backend that gets callbacks, as backends behave: it accepts them, fails, redirects, hangs, or is away.
 *
 * @param answer of each call.
 */
export const startReceiver = async (answer: (call: Call, count: number) => Answer = () => 204) => {
  const { all: calls, add, until } = openArrivals<Call>();
  let ended = 0;
  const url = await serve(async (request, response) => {
    const body = await text(request);
    const call: Call = {
      id: String(request.headers["webhook-id"]),
      headers: request.headers,
      body,
      ...JSON.parse(body),
    };
    const given = add(call, (count) => answer(call, count));
    if (given === "hang") return void response.once("close", () => ended++);
    const { status, headers } = typeof given === "number" ? { status: given, headers: {} } : given;
    response.writeHead(status, headers).end();
  });
  return {
    url: `${url}/status`,
    calls,
    /** Calls without an answer that the caller has ended. */
    ended: () => ended,
    statuses: (id: string) => calls.filter(({ data }) => data.id === id).map(({ data }) => data.status),
    until,
  };
};

/** Verifies a call as a receiver does. @throws Error unless the secret has signed it. */
export const verify = (secret: string, { body, headers }: Call): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
