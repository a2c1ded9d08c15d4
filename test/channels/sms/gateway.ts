import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { openArrivals } from "../../fleet/callback-arrivals.ts";
import { listen } from "../../steps/http-server.ts";
import type { Answer, Dialect, ReportedState } from "./dialects.ts";

/** An SMS that the gateway has taken, and would deliver. */
export interface Taken {
  readonly phone: string;
  readonly text: string;
  readonly reference: string;
  readonly at: number;
  readonly reportUrl: string | undefined;
}

/** What a gateway does with a request. */
export type FailureMode =
  | "accepts"
  /** A documented rejection of the message. */
  | "rejects"
  /** Twilio, error 20429; Vonage, error 1; Kannel, 503. */
  | "throttles"
  | "forbids"
  /** A proxy in front of the gateway times out after the gateway has it: API Gateway's 504, nginx' 502. */
  | "fails-after-it-accepted"
  /** Vonage, error 5: an error has occurred while processing. */
  | "fails"
  | "hangs-before"
  /** Accepts and never answers. */
  | "hangs-after"
  | "resets-before"
  | "resets-after"
  | "truncates"
  | "answers-without-end"
  | "redirects"
  /** A captive portal or a proxy: 200 with a page of its own. */
  | "answers-a-page"
  | "answers-an-empty-object"
  /** The same reference as the message before. */
  | "repeats-the-reference"
  /** Twilio and Infobip: no order is promised between the answer and the first callback. */
  | "reports-first";

/** References as of Zenziva: beyond 2^53, so that neighbours are one JavaScript number. */
const firstReference = 9_007_199_254_740_993n;

/** An SMS gateway on loopback that speaks one dialect and behaves as the test says. */
export const startGateway = async (
  dialect: Dialect,
  failureMode: (count: number) => FailureMode = () => "accepts",
) => {
  const { all: taken, add, until } = openArrivals<Taken>();
  const asked: {
    readonly method: string;
    readonly contentType: string | undefined;
    readonly query: URLSearchParams;
    readonly body: string;
  }[] = [];
  const secrets = new Set([dialect.secret]);
  let last = firstReference;
  let cut = 0;

  const report = async ({ reportUrl, reference }: Taken, state: ReportedState): Promise<number> => {
    if (reportUrl === undefined) throw new Error("the gateway has no address for reports");
    const { method, query = {}, type, body } = dialect.report(reference, state);
    // Kannel puts the state where the URL has %d
    const url = new URL(reportUrl.replace("%d", query.state ?? ""));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = type === undefined ? {} : { "content-type": type };
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    await response.arrayBuffer();
    return response.status;
  };

  const reply = (response: ServerResponse, { status, headers, body }: Answer) =>
    void response.writeHead(status, headers ?? {}).end(body);
  const accepted = (message: Taken, id: string) => dialect.accept(message.reference, id);

  const take = (read: ReturnType<Dialect["read"]>, repeats: boolean, id: string): Taken => {
    if (!repeats) last += 1n;
    const { phone, text: words, reportUrl } = read;
    const message = {
      phone,
      text: words,
      reference: dialect.reference === "ours" ? id : String(last),
      at: Date.now(),
      reportUrl,
    };
    add(message, () => undefined);
    return message;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const now = failureMode(asked.length + 1);
    if (now === "resets-before") {
      asked.push({ method: "", contentType: undefined, query: new URLSearchParams(), body: "" });
      return void request.socket.resetAndDestroy();
    }
    const body = await text(request);
    const query = new URL(request.url ?? "", "http://gateway").searchParams;
    asked.push({ method: request.method ?? "", contentType: request.headers["content-type"], query, body });
    if (now === "hangs-before") return void response.once("close", () => cut++);
    const read = dialect.read({ headers: request.headers, query, body });
    if (now === "forbids" || !secrets.has(read.secret)) return reply(response, dialect.forbid());
    if (now === "rejects") return reply(response, dialect.reject());
    if (now === "throttles") return reply(response, dialect.throttle());
    if (now === "fails") return reply(response, { status: 500, body: "PLANTED" });
    if (now === "redirects")
      return reply(response, { status: 307, headers: { location: request.url ?? "" }, body: "" });
    if (now === "answers-a-page")
      return reply(response, { status: 200, body: "<html>Log in to the network</html>" });
    if (now === "answers-an-empty-object") return reply(response, { status: 200, body: "{}" });
    const id = /3EB0\w+/.exec(`${query} ${body}`)?.[0] ?? "";
    const message = take(read, now === "repeats-the-reference", id);
    if (now === "fails-after-it-accepted") return reply(response, { status: 504, body: "PLANTED" });
    if (now === "hangs-after") return void response.once("close", () => cut++);
    if (now === "resets-after") return void request.socket.resetAndDestroy();
    if (now === "truncates") {
      const whole = accepted(message, id);
      response.writeHead(whole.status, { "content-length": String(whole.body.length + 10) });
      return void response.write(whole.body, () => response.socket?.end());
    }
    if (now === "answers-without-end") {
      response.writeHead(200).on("drain", () => response.write(" ".repeat(65_536)));
      return void Array.from({ length: 4 }, () => response.write(" ".repeat(65_536)));
    }
    if (now === "reports-first") await report(message, "delivered");
    reply(response, accepted(message, id));
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  onTestFinished(() => server.closeAllConnections());
  return {
    url: await listen(server),
    /** All requests that have arrived, whatever became of them. */
    asked,
    taken,
    until,
    textsTo: (phone: string) => taken.filter((one) => one.phone === phone).map((one) => one.text),
    /** Requests without an answer that the caller has ended. */
    cut: () => cut,
    /** Accepts another key instead of the present one. */
    rotate(secret: string) {
      secrets.clear();
      secrets.add(secret);
    },
    /** @returns the status with which the report was answered. */
    report,
    /** Repeats it until it is taken, as Vonage does for 24 hours. */
    async reportUntilTaken(message: Taken, state: ReportedState): Promise<number> {
      let times = 1;
      while ((await report(message, state)) >= 300) times += 1;
      return times;
    },
  };
};
