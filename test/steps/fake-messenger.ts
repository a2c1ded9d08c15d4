import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod/mini";
import { Batch, Submission } from "#lib/messaging/submission.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** A request that a send endpoint handed over. */
interface Handed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The first one of a batch; undefined for a request of a message's status. */
  readonly submission: Submission | undefined;
  readonly content: Buffer | undefined;
}

type Behaviour = (handed: Handed, response: ServerResponse) => void;

export const reply = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

export const acceptedAt = "2025-06-01T08:00:00.123Z";

/** Accepts everything. */
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

/** A fake messenger that speaks `lib/messaging/submission.ts` and answers as the test says. */
export const startFakeMessenger = async () => {
  const handed: Handed[] = [];
  let behave = accepts;
  const server = createServer(async (request, response) => {
    // the sender may have closed the connection
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
export type FakeMessenger = Awaited<ReturnType<typeof startFakeMessenger>>;
