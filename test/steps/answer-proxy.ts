import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import type { City } from "../../infra/local/city.ts";
import { listen } from "./http-server.ts";

/** An answer on its way to the caller, which a test may change in place. */
export interface Passing {
  readonly method: string;
  /** Below the base path, without the query. */
  readonly path: string;
  readonly messaging: boolean;
  status: number;
  readonly headers: Headers;
  body: string;
}

/** Hop-by-hop, or no longer true of a body that was read. */
const ownHeaders = ["connection", "content-length", "transfer-encoding", "keep-alive", "host"];

/**
 * A proxy in front of a city, like a custom domain with base paths, that changes answers; stops when the test ends.
 *
 * @returns the addresses of both APIs.
 */
export const startAnswerProxy = async (
  city: Pick<City, "baseUrl" | "messagingBaseUrl">,
  change: (passing: Passing) => void = () => {},
) => {
  const bases = { "/api": city.baseUrl, "/pesan": city.messagingBaseUrl };
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const prefix = url.startsWith("/pesan") ? "/pesan" : "/api";
    const rest = url.slice(prefix.length);
    const passed = Object.entries(headers).filter(([name]) => !ownHeaders.includes(name));
    const body = await buffer(request);
    const answer = await fetch(`${bases[prefix]}${rest}`, {
      method,
      headers: passed as [string, string][],
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const passing: Passing = {
      ...{ method, path: rest.split("?")[0] ?? "", messaging: prefix === "/pesan" },
      ...{ status: answer.status, headers: new Headers(answer.headers), body: await answer.text() },
    };
    change(passing);
    for (const name of ownHeaders) passing.headers.delete(name);
    response.writeHead(passing.status, Object.fromEntries(passing.headers)).end(passing.body);
  });
  const url = await listen(server);
  return { baseUrl: `${url}/api`, messagingBaseUrl: `${url}/pesan` };
};
