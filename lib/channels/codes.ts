import type { ChannelName } from "#lib/messaging/channel.ts";
import { refusals as cloudApi } from "./cloud-api/codes.ts";
import { findRefusalCode, type Refusal, refusals as whatsapp } from "./platform-codes.ts";
import { smsRefusals as sms } from "./sms/codes.ts";

/** What the codes say with which the platform of each channel rejects a message. */
export const refusals = { whatsapp, "cloud-api": cloudApi, sms } satisfies Record<
  ChannelName,
  Readonly<Record<string, Refusal>>
>;

/** Returns the name of the row that applies to a code. */
export const findRow = (channel: ChannelName, code: string): string => {
  if (channel === "whatsapp") return findRefusalCode(code);
  return Object.hasOwn(refusals[channel], code) ? code : "other";
};

/** Returns what a code of a channel says, and what is done about it. */
export const findRefusal = (channel: ChannelName, code: string): Refusal => {
  const rows: Readonly<Record<string, Refusal>> = refusals[channel];
  return rows[findRow(channel, code)] ?? refusals[channel].other;
};
