import { setTimeout } from "node:timers/promises";
import { Accepted } from "#lib/messaging/submission.ts";
import type { Scene } from "./scene.ts";

/** A text, or a small file with this caption; the text is the Idempotency-Key, too. */
export interface Message {
  readonly kind: string;
  readonly phone: string;
  readonly text: string;
}

const requestTimeoutMs = 5_000;
const repeatAfterMs = 50;

const encode = ({ kind, phone, text }: Message) => {
  const json = JSON.stringify({ sender: "api:faults", kind, phone, text, idempotency_key: text });
  if (kind === "text") return { headers: { "content-type": "application/json" }, body: json };
  const submission = Buffer.from(json).toString("base64url");
  return {
    headers: { "content-type": "application/octet-stream", "x-submission": submission },
    body: "the bytes of a file",
  };
};

/**
 * Repeats a request with its key until it is accepted, by the tasks in turn.
 *
 * @param first of the tasks.
 */
export const submit = async (
  { fleet, token, sql }: Scene,
  message: Message,
  { first = 0, onRepeat = () => {} } = {},
): Promise<Accepted> => {
  const { headers, body } = encode(message);
  const all = { ...headers, authorization: `Bearer ${token}` };
  for (let attempt = first; ; attempt++) {
    const urls = fleet.urls();
    const url = urls[attempt % urls.length];
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const response =
      url &&
      (await fetch(`${url}/messages`, { method: "POST", headers: all, body, signal }).catch(() => undefined));
    const answer = response && (await response.text().catch(() => undefined));
    if (response && answer !== undefined) {
      if (response.status === 201) return Accepted.parse(JSON.parse(answer));
      // the key of media that were never accepted is free after 2 min: here at once; the database may be down
      if (response.status === 409)
        await sql`
          update messaging.idempotency set created_at = created_at - interval '3 minutes' where message_id is null`.catch(
          () => {},
        );
      else if (response.status < 500)
        throw new Error(`a message was refused with ${response.status}: ${answer}`);
    }
    onRepeat();
    await setTimeout(repeatAfterMs);
  }
};
