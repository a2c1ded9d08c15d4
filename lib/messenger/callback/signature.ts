import { createHmac } from "node:crypto";

const prefix = "whsec_";

/** Makes the text of a secret from its bytes. */
export const secretText = (bytes: Uint8Array): string => `${prefix}${Buffer.from(bytes).toString("base64")}`;

/** @param text as `secretText` has made it. */
export const readSecretText = (text: string): Buffer => Buffer.from(text.slice(prefix.length), "base64");

/**
 * Signs an event in the format of Standard Webhooks, with each secret.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * @param seconds Unix time of the attempt.
 * @returns the headers of the request.
 */
export const sign = (
  secrets: readonly Uint8Array[],
  id: string,
  seconds: number,
  body: string,
): Record<string, string> => ({
  "webhook-id": id,
  "webhook-timestamp": `${seconds}`,
  "webhook-signature": secrets
    .map((secret) => `v1,${createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64")}`)
    .join(" "),
});
