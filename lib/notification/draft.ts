import type { Draft } from "#lib/messaging/messenger-client.ts";
import { isPhone } from "#lib/messaging/phone.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { render, type Template, ValueError } from "./template.ts";

/** The longest that the messenger keeps a message for. */
const maxSeconds = 259_200;

/** Who is to be told what. */
export interface Wish {
  readonly template: Template;
  readonly phone: string | null;
  readonly values: unknown;
  /** Unix milliseconds after which it is not to be sent. */
  readonly expiresAt: number;
  /** The same wish has the same key, however often and by whomever it is made. */
  readonly key: string;
  readonly run?: string;
}

/** What a wish comes to: a message to be handed over, or why there is none, in words that hold no data. */
export type Drafted =
  | { readonly draft: Draft }
  | { readonly outcome: "refused" | "expired"; readonly reason: string };

const refused = (reason: string): Drafted => ({ outcome: "refused", reason });

/** Makes the message of a wish. */
export const draftOf = ({ template, phone, values, expiresAt, key, run }: Wish): Drafted => {
  if (!phone) return refused("phone is missing");
  if (!isPhone(phone, { suffixed: false }))
    return refused("phone is no number with country code, in digits alone");
  // a preview may be of a time that is far away
  const seconds = Math.min(Math.floor((expiresAt - Date.now()) / 1_000), maxSeconds);
  if (seconds < 1) return { outcome: "expired", reason: "too late to be sent" };
  try {
    const { text, file } = render(template, values);
    const draft: Draft = {
      kind: file ? "file" : "text",
      ...{ phone, text, class: template.class, idempotency_key: key, expires_in_seconds: seconds },
      ...(file && { url: file.url, file_name: file.name }),
      ...(template.quietHours && { quiet_hours: template.quietHours }),
      ...(run && { run }),
    };
    return Submission.safeParse(draft).success
      ? { draft }
      : refused("the message is not one that can be sent");
  } catch (error) {
    if (error instanceof ValueError) return refused(error.message);
    throw error;
  }
};

/** Whether who has opted out is spared: what a person asked for, and alerts, go out. */
export const heedsOptOut = ({ class: kind }: Template): boolean => kind === "reminder" || kind === "bulk";
