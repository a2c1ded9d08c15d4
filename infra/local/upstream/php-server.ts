import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { serveHttp } from "../loopback.ts";

/** A received request. */
export interface Seen {
  readonly method: string;
  /** Path and query, not decoded. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A page's response. */
export interface Page {
  readonly status?: number;
  readonly json: unknown;
}

const maxSeen = 1_000;
const slowMs = 3_000;
const hugeBytes = 10 * 1024 * 1024;

const errorPage = (title: string) =>
  `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>${title}</title>\n</head>` +
  `<body>\n<h1>${title}</h1>\n<p>Apache/2.2.22 (Ubuntu) PHP/5.3.10 Server</p>\n</body></html>\n`;

const sendHtml = (response: ServerResponse, status: number, title: string) =>
  response.writeHead(status, { "content-type": "text/html; charset=iso-8859-1" }).end(errorPage(title));

/** Sends JSON as old PHP scripts do: with the type HTML, and with slashes and non-ASCII characters escaped. */
const sendJson = (response: ServerResponse, { status = 200, json }: Page) => {
  const escaped = JSON.stringify(json)
    .replaceAll("/", "\\/")
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  response
    .writeHead(status, { "content-type": "text/html", "x-powered-by": "PHP/5.3.10-1ubuntu3" })
    .end(escaped);
};

/** Ways in which a legacy system fails. The page is sent only if they return true. */
const failureModes = {
  well: () => true,
  slow: () => setTimeout(slowMs, true, { ref: false }),
  hang: () => false,
  reset: (_, socket) => socket.resetAndDestroy(),
  half(response, socket) {
    response.writeHead(200, { "content-type": "text/html", "content-length": "1000" }).write('{"status":');
    socket.end();
  },
  html: (response) => sendHtml(response, 200, "Database connection failed"),
  error: (response) => sendHtml(response, 500, "500 Internal Server Error"),
  missing: (response) => sendHtml(response, 404, "404 Not Found"),
  huge(response) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`{"status":"success","result":["${"a".repeat(hugeBytes)}"]}`);
  },
  redirect: (response) => response.writeHead(302, { location: "/index.php/login" }).end(),
} satisfies Record<string, (response: ServerResponse, socket: Socket) => unknown>;

/**
 * Starts a simulated PHP system on loopback.
 *
 * `PUT /mood` with the name of a failure as its body makes every later page fail that way; `GET /seen` lists the
 * requests. The real systems have neither.
 *
 * @param answer returns the page for a request, or undefined for a 404.
 */
export const startPhpServer = (
  answer: (method: string, url: URL, form: URLSearchParams) => Page | undefined,
) => {
  const seen: Seen[] = [];
  let failureMode: keyof typeof failureModes = "well";

  const setFailureMode = (name: string, response: ServerResponse) => {
    const known = Object.hasOwn(failureModes, name);
    if (known) failureMode = name as keyof typeof failureModes;
    response
      .writeHead(known ? 204 : 400)
      .end(known ? undefined : `Use ${Object.keys(failureModes).join(", ")}\n`);
  };

  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "/", headers } = message;
    const address = new URL(url, "http://upstream");
    const body = await text(message);
    const call = `${method} ${address.pathname}`;
    if (call === "PUT /mood") return setFailureMode(body.trim(), response);
    if (call === "GET /seen")
      return response.setHeader("content-type", "application/json").end(JSON.stringify(seen));
    seen.push({ method, url, headers, body });
    if (seen.length > maxSeen) seen.shift();
    if ((await failureModes[failureMode](response, message.socket)) !== true) return;
    const page = answer(method, address, new URLSearchParams(body));
    if (page) sendJson(response, page);
    else sendHtml(response, 404, "404 Not Found");
  };

  const server = createServer((message, response) => {
    // the caller may disconnect during its request
    serve(message, response).catch(() => response.destroy());
  });
  return serveHttp(server);
};
