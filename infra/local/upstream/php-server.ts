import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { listenOnLoopback } from "../loopback.ts";

/** Ways in which an old system fails; `well` ends them. */
const moods = ["well", "slow", "hang", "reset", "half", "html", "error", "huge", "redirect"] as const;
type Mood = (typeof moods)[number];

/** A request as the system saw it. */
export interface Seen {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What a page answers: JSON, or the HTML of an error. */
export interface Page {
  readonly status?: number;
  readonly json: unknown;
}

export interface PhpServer {
  readonly url: string;
  /** The last requests for pages, oldest first. */
  readonly seen: readonly Seen[];
  stop(): Promise<void>;
}

const maxSeen = 1_000;
const slowMs = 3_000;
const hugeBytes = 10 * 1024 * 1024;

const errorPage = (title: string) =>
  `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>${title}</title>\n</head>` +
  `<body>\n<h1>${title}</h1>\n<p>Apache/2.2.22 (Ubuntu) PHP/5.3.10 Server</p>\n</body></html>\n`;

const sendHtml = (response: ServerResponse, status: number, title: string) =>
  response.writeHead(status, { "content-type": "text/html; charset=iso-8859-1" }).end(errorPage(title));

/** JSON as PHP scripts of that time send it: called HTML, and with slashes and non-ASCII escaped. */
const sendJson = (response: ServerResponse, { status = 200, json }: Page) => {
  const escaped = JSON.stringify(json)
    .replaceAll("/", "\\/")
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  response
    .writeHead(status, { "content-type": "text/html", "x-powered-by": "PHP/5.3.10-1ubuntu3" })
    .end(escaped);
};

/** Fails as the mood is. @returns false when the page is to be answered all the same. */
const misbehave = async (mood: Mood, { socket }: IncomingMessage, response: ServerResponse) => {
  switch (mood) {
    case "well":
      return false;
    case "slow":
      await setTimeout(slowMs, undefined, { ref: false });
      return false;
    case "hang":
      return true;
    case "reset":
      socket.resetAndDestroy();
      return true;
    case "half":
      response.writeHead(200, { "content-type": "text/html", "content-length": "1000" }).write('{"status":');
      socket.end();
      return true;
    case "html":
      sendHtml(response, 200, "Database connection failed");
      return true;
    case "error":
      sendHtml(response, 500, "500 Internal Server Error");
      return true;
    case "huge":
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`{"status":"success","result":["${"a".repeat(hugeBytes)}"]}`);
      return true;
    case "redirect":
      response.writeHead(302, { location: "/index.php/login" }).end();
      return true;
  }
};

/**
 * An old PHP system on loopback: JSON that is called HTML, error pages, and failures on demand.
 *
 * `PUT /mood` with the name of a failure as its body makes every later page fail so; `GET /seen` lists the
 * requests. Neither belongs to the system that is imitated.
 *
 * @param answer the page of a request; undefined is its 404.
 */
export const startPhpServer = async (
  answer: (method: string, url: URL, form: URLSearchParams) => Page | undefined,
): Promise<PhpServer> => {
  const seen: Seen[] = [];
  let mood: Mood = "well";

  const control = (method: string | undefined, path: string, body: string, response: ServerResponse) => {
    if (method === "GET" && path === "/seen") {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(seen));
      return true;
    }
    if (method !== "PUT" || path !== "/mood") return false;
    const wanted = moods.find((known) => known === body.trim());
    if (wanted) mood = wanted;
    response.writeHead(wanted ? 204 : 400).end(wanted ? undefined : `one of: ${moods.join(", ")}\n`);
    return true;
  };

  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    const { method = "", url = "/", headers } = message;
    const address = new URL(url, "http://upstream");
    const body = await text(message);
    if (control(method, address.pathname, body, response)) return;
    seen.push({ method, url, headers, body });
    if (seen.length > maxSeen) seen.shift();
    if (await misbehave(mood, message, response)) return;
    const page = answer(method, address, new URLSearchParams(body));
    if (page) sendJson(response, page);
    else sendHtml(response, 404, "404 Not Found");
  };

  const server = createServer((message, response) => {
    // a caller that went away while its request came in
    serve(message, response).catch(() => response.destroy());
  });
  const { address, stop } = await listenOnLoopback(server);
  return { url: `http://${address}`, seen, stop };
};
