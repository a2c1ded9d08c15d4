import { findSetting } from "#lib/config.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { type Reading, readPhone } from "#lib/messaging/phone-reading.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { render, type Template, ValueError } from "./template.ts";

/** The messenger's maximum for `expires_in_seconds`. */
const maxSeconds = 259_200;

export interface DraftInput {
  readonly template: Template;
  readonly phone: string | null;
  /** The country that the number has according to its writer. */
  readonly country?: Pick<Reading, "country" | "region"> | undefined;
  readonly values: unknown;
  /** Unix milliseconds after which the message must not be sent. */
  readonly expiresAt: number;
  /** Idempotency key: the same for every attempt to send the same message. */
  readonly key: string;
  /** ISO 8601 with zone; now by default. */
  readonly sendAt?: string | undefined;
  readonly run?: string;
}

/** A message, or the reason why there is none. Reasons contain no personal data. */
export type DraftResult =
  | { readonly draft: Draft }
  | { readonly outcome: "refused" | "expired"; readonly reason: string };

const refused = (reason: string): DraftResult => ({ outcome: "refused", reason });

export const createDraft = (input: DraftInput): DraftResult => {
  const { template, phone, country, values, expiresAt, key, sendAt, run } = input;
  if (!phone) return refused("phone is missing");
  const read = readPhone(phone, country && [country.country]);
  if ("problem" in read && read.readings.length > 0) return refused(read.problem);
  if ("problem" in read || read.phone !== phone) return refused("phone must be digits with country code");
  // a preview may be for a time far in the future
  const seconds = Math.min(Math.floor((expiresAt - Date.now()) / 1_000), maxSeconds);
  if (seconds < 1) return { outcome: "expired", reason: "too late to be sent" };
  try {
    const { text, file } = render(template, values);
    const draft: Draft = {
      sender: "notification",
      kind: file ? "file" : "text",
      phone,
      text,
      class: template.class,
      idempotency_key: key,
      expires_in_seconds: seconds,
      ...(file && { url: file.url, file_name: file.name }),
      ...(template.quietHours && {
        quiet_hours: { ...template.quietHours, time_zone: findSetting("TIME_ZONE") },
      }),
      ...(sendAt && { send_at: sendAt }),
      ...(run && { run }),
    };
    // of a text whose lines all have optional values
    if (!text.trim() && !file) return refused("the text is empty");
    return Submission.safeParse(draft).success ? { draft } : refused("the message is invalid");
  } catch (error) {
    if (error instanceof ValueError) return refused(error.message);
    throw error;
  }
};

/** Whether the template is not sent to opted-out numbers. Alerts and requested messages are always sent. */
export const respectsOptOut = ({ class: kind }: Template): boolean => kind === "reminder" || kind === "bulk";
