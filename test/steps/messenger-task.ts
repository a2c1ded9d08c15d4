import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod/mini";
import { Batch, Submission } from "#lib/messaging/submission.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** What a send endpoint handed over. */
interface Handed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The first one of a batch; undefined for a question about a message. */
  readonly submission: Submission | undefined;
  readonly content: Buffer | undefined;
}

type Behaviour = (handed: Handed, response: ServerResponse) => void;

export const reply = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

export const acceptedAt = "2025-06-01T08:00:00.123Z";

/** Takes whatever comes. */
const accepts: Behaviour = ({ path }, response) =>
  reply(
    response,
    201,
    path === "/messages/batch"
      ? { ids: ["3EB0PLAYED"] }
      : { id: "3EB0PLAYED", status: "PENDING", accepted_at: acceptedAt },
  );

const submissionIn = (path: string, json: unknown): Submission | undefined =>
  path === "/messages/batch" ? z.parse(Batch, json).submissions[0] : z.parse(Submission, json);

/** One side of `lib/messaging/submission.ts`: a messenger that says what the test wants to hear. */
export const playTask = async () => {
  const handed: Handed[] = [];
  let behave = accepts;
  const server = createServer(async (request, response) => {
    // a sender that was cut off has nothing more to say
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const { method = "", url: path = "", headers } = request;
    const inline = headers["content-type"] === "application/octet-stream";
    const json = inline ? Buffer.from(String(headers["x-submission"]), "base64url") : body;
    const one: Handed = {
      ...{ method, path, headers },
      submission: method === "POST" ? submissionIn(path, JSON.parse(json.toString())) : undefined,
      content: inline ? body : undefined,
    };
    handed.push(one);
    behave(one, response);
  });
  const { address, stop } = await listenOnLoopback(server);
  return {
    url: `http://${address}`,
    /** What was handed over since the last `behave`. */
    handed,
    behave(next: Behaviour = accepts) {
      behave = next;
      handed.length = 0;
    },
    stop,
  };
};
export type PlayedTask = Awaited<ReturnType<typeof playTask>>;
