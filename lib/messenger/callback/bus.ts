import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4, type SignatureV4Init } from "@smithy/signature-v4";
import { Agent, type Dispatcher } from "undici";
import * as z from "zod/mini";
import { usernameOf } from "#lib/messaging/submission.ts";
import { changeType, type Event } from "./event.ts";
import { type Outcome, send } from "./post.ts";

/** Where the event buses of the stage's account and region are reached. */
export interface BusSettings extends Pick<SignatureV4Init, "region" | "credentials"> {
  /** Of EventBridge. */
  readonly url: string;
}

const prefix = "eventbridge:";

/** The address of a bus. */
export const busAddress = (name: string): string => `${prefix}${name}`;

/** @returns the name of the bus, or undefined for the address of a backend. */
export const findBus = (address: string): string | undefined =>
  address.startsWith(prefix) ? address.slice(prefix.length) : undefined;

const toBody = (bus: string, id: string, { sender, message }: Event): string =>
  JSON.stringify({
    Entries: [
      {
        EventBusName: bus,
        Source: "municipal.messaging",
        DetailType: changeType,
        Detail: JSON.stringify({ ...message, event_id: id, sender: usernameOf(sender) }),
        // in seconds, as in all of this protocol
        Time: Date.parse(message.changed_at) / 1_000,
      },
    ],
  });

const Answer = z.object({
  FailedEntryCount: z.optional(z.number()),
  Entries: z.optional(z.array(z.object({ ErrorCode: z.optional(z.string()) }))),
  /** Of a request that failed as a whole; the name may stand behind a namespace and `#`. */
  __type: z.optional(z.string()),
});

/** With status 200, an entry may have failed. */
const judge = async ({ statusCode: status, body }: Dispatcher.ResponseData): Promise<Outcome> => {
  const answer = Answer.safeParse(await body.json().catch(() => ({}))).data;
  if (status === 200 && answer?.FailedEntryCount === 0) return undefined;
  const code = answer?.Entries?.[0]?.ErrorCode ?? answer?.__type?.split("#").at(-1);
  return { status, isOfAddress: true, reason: [`status ${status}`, code].filter(Boolean).join(" ") };
};

/**
 * Opens the event buses. The SDK's client would be a dependency more for one request.
 * @see https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export const openBuses = ({ url, region, credentials }: BusSettings) => {
  const signer = new SignatureV4({ credentials, region, service: "events", sha256: Sha256 });
  // without the guard of callbacks: in a network with an endpoint for EventBridge, its address is private
  const agent = new Agent({ allowH2: false, pipelining: 1 });
  const { protocol, hostname, host } = new URL(url);

  const sign = async (body: string): Promise<Record<string, string>> => {
    const headers = {
      host,
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": "AWSEvents.PutEvents",
    };
    const request = new HttpRequest({ method: "POST", protocol, hostname, path: "/", headers, body });
    return (await signer.sign(request)).headers;
  };

  return {
    /** Puts an event on a bus once. @param id the same for each attempt. @returns undefined if the bus has accepted it. */
    async put(bus: string, id: string, event: Event): Promise<Outcome> {
      const body = toBody(bus, id, event);
      const headers = await sign(body).catch(() => undefined);
      if (!headers) return { isOfAddress: true, reason: "no credentials" };
      return send(agent, url, headers, body, judge);
    },
    /** Ends what is under way. */
    close: (): Promise<void> => agent.destroy(),
  };
};
