import type { ChannelName } from "#lib/messaging/channel.ts";
import { rejections as cloudApi } from "./cloud-api/codes.ts";
import type { Rejection } from "./rejection.ts";
import { smsRejections as sms } from "./sms/codes.ts";
import { findRejectionCode, rejections as whatsapp } from "./whatsapp/codes.ts";

/** What the codes say with which the platform of each channel rejects a message. */
export const rejections = { whatsapp, "cloud-api": cloudApi, sms } satisfies Record<
  ChannelName,
  Readonly<Record<string, Rejection>>
>;

/** Returns the name of the row that applies to a code. */
export const findRow = (channel: ChannelName, code: string): string => {
  if (channel === "whatsapp") return findRejectionCode(code);
  return Object.hasOwn(rejections[channel], code) ? code : "other";
};

/** Returns what a code of a channel says, and what is done about it. */
export const findRejection = (channel: ChannelName, code: string): Rejection => {
  const rows: Readonly<Record<string, Rejection>> = rejections[channel];
  return rows[findRow(channel, code)] ?? rejections[channel].other;
};

/** What the reason of a rejected message begins with. */
export const rejectedWith = (code: string): string => `rejected by the platform, code ${code}: `;

/** Describes the rejection as the reason of a failed message. */
export const describeRejection = (channel: ChannelName, code: string): string =>
  `${rejectedWith(code)}${findRejection(channel, code).says}`;
