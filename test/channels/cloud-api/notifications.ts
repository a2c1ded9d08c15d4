import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Arrived, phoneNumberId } from "./platform.ts";

/*
 * The platform's notifications.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
 */

type Json = Readonly<Record<string, unknown>>;
type Status = "sent" | "delivered" | "read" | "failed";

export const statusOf = (
  { wamid, id, posted }: Pick<Arrived, "wamid" | "id" | "posted">,
  status: Status,
  code?: number,
): Json => ({
  id: wamid,
  status,
  timestamp: "1767229200",
  recipient_id: posted.to.slice(1),
  biz_opaque_callback_data: id,
  ...(code !== undefined && { errors: [{ code, title: "invented", error_data: { details: "invented" } }] }),
  ...(status === "sent" && {
    conversation: { id: "invented" },
    pricing: { billable: true, category: "utility" },
  }),
});

interface Value {
  readonly statuses?: readonly unknown[];
  readonly messages?: readonly unknown[];
  readonly number?: string;
}

const changeOf = ({ statuses, messages, number = phoneNumberId }: Value): Json => ({
  field: "messages",
  value: {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: "6281200000001", phone_number_id: number },
    ...(statuses && { statuses }),
    ...(messages && { contacts: [{ profile: { name: "Invented" } }], messages }),
  },
});

/** One notification of some changes. */
export const notificationOf = (...values: readonly Value[]): Json => ({
  object: "whatsapp_business_account",
  entry: [{ id: "102290129340398", changes: values.map(changeOf) }],
});

/**
 * The bytes that are signed: everything beyond ASCII and slashes are escaped, with lower-case digits.
 * https://github.com/Charca/bootbot/issues/174 quotes the documentation
 */
export const encode = (notification: unknown): Buffer =>
  Buffer.from(
    JSON.stringify(notification)
      .replaceAll("/", "\\/")
      .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

export const sign = (secret: string, body: Uint8Array): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Posts a body once. */
export const post = (url: string, body: Buffer, signature: string | undefined): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "facebookexternalua",
      ...(signature !== undefined && { "x-hub-signature-256": signature }),
    },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(20_000),
  });

interface Habits {
  /** How often each is sent, whatever the answer. Notifications may arrive more than once. */
  readonly copies?: number;
  /** Their order is not that of the events. */
  readonly shuffle?: <T>(items: readonly T[]) => readonly T[];
  readonly delayMs?: number;
  /** Which never arrive. */
  readonly isLost?: (notification: unknown) => boolean;
  /** Any other answer than 200 is repeated, by the platform for up to 7 days with growing delays. */
  readonly attempts?: number;
}

/** Sends notifications as the platform does. @returns how many got a 200. */
export const notify = async (
  url: string,
  secret: string,
  notifications: readonly unknown[],
  { copies = 1, shuffle = (items) => items, delayMs = 0, isLost = () => false, attempts = 5 }: Habits = {},
): Promise<number> => {
  const all = notifications.filter((one) => !isLost(one)).flatMap((one) => Array(copies).fill(one));
  let taken = 0;
  for (const one of shuffle(all)) {
    const body = encode(one);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (delayMs > 0) await pause(delayMs);
      const { status } = await post(url, body, sign(secret, body));
      if (status !== 200) continue;
      taken += 1;
      break;
    }
  }
  return taken;
};
