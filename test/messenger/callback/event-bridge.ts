import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import type { BusSettings } from "#lib/messenger/callback/bus.ts";
import { serve } from "../../steps/http-server.ts";
import { openArrivals } from "./arrivals.ts";

/** An event of a message's state, as a rule of a bus sees it. */
export interface Put {
  readonly bus: string;
  readonly source: string;
  readonly detailType: string;
  /** In seconds. */
  readonly time: number;
  readonly detail: {
    readonly id: string;
    readonly status: string;
    readonly event_id: string;
    readonly sender: string;
  };
}

type Answer =
  | "accept"
  /** Stores the event, and the connection ends before the answer. */
  | "break"
  | "hang"
  /** The request succeeds and its entry fails. */
  | { readonly entry: "InternalFailure" | "ThrottlingException" }
  /** The request fails, each with status 400. */
  | { readonly request: "ThrottlingException" | "AccessDeniedException" | "InvalidSignatureException" };

const identity = { accessKeyId: "AKIDTEST", secretAccessKey: "not a secret", sessionToken: "session" };
const region = "ap-southeast-3";

/** Signs a request again, with the headers that it says are signed. */
const signatureOf = async ({ method = "", url = "", headers }: IncomingMessage, body: string) => {
  const signed = /SignedHeaders=([\w;-]+)/.exec(headers.authorization ?? "")?.[1]?.split(";") ?? [];
  const own = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"];
  const given = signed.filter((name) => !own.includes(name)).map((name) => [name, String(headers[name])]);
  const date =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers["x-amz-date"]))?.slice(1) ?? [];
  const [year, month, day, hour, minute, second] = date;
  const signer = new SignatureV4({ credentials: identity, region, service: "events", sha256: Sha256 });
  const request = new HttpRequest({ method, path: url, headers: Object.fromEntries(given), body });
  const signingDate = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return (await signer.sign(request, { signingDate })).headers.authorization;
};

/**
 * EventBridge, as far as one PutEvents of one entry goes.
 *
 * - A request, its answer, and an entry that failed beside status 200:
 *   https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 *   https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html
 *   https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
 * - The errors of a whole request, throttling too, have status 400:
 *   https://docs.aws.amazon.com/eventbridge/latest/APIReference/CommonErrors.html
 * - Their form, `__type` with or without a namespace:
 *   https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#operation-error-serialization
 * - A connection may hang or end after the event is stored, as any other: the same event is then put again.
 *
 * @param answer of each request.
 */
export const startEventBridge = async (answer: (put: Put, count: number) => Answer = () => "accept") => {
  const { all: puts, add, until } = openArrivals<Put>();
  const url = await serve(async (request, response) => {
    const body = await text(request);
    const reply = (status: number, json: unknown) =>
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(json));
    const reject = (code: string) =>
      reply(400, { __type: `com.amazon.coral.service#${code}`, message: code });
    if (request.headers["x-amz-target"] !== "AWSEvents.PutEvents") return reject("UnknownOperationException");
    if (request.headers.authorization !== (await signatureOf(request, body)))
      return reject("InvalidSignatureException");
    const [entry] = JSON.parse(body).Entries;
    const put: Put = {
      ...{ bus: entry.EventBusName, source: entry.Source, detailType: entry.DetailType, time: entry.Time },
      detail: JSON.parse(entry.Detail),
    };
    const given = add(put, (count) => answer(put, count));
    if (given === "hang") return;
    if (given === "break") return response.destroy();
    if (given === "accept") return reply(200, { FailedEntryCount: 0, Entries: [{ EventId: randomUUID() }] });
    if ("request" in given) return reject(given.request);
    const failed = { ErrorCode: given.entry, ErrorMessage: "The entry was not stored." };
    return reply(200, { FailedEntryCount: 1, Entries: [failed] });
  });
  const settings: BusSettings = { url, region, credentials: async () => identity };
  return { settings, puts, until };
};
