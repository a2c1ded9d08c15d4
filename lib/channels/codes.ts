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

/** Returns what a code of a channel says, and what is done about it. */
export const findRejection = (channel: ChannelName, code: string): Rejection => {
  const rows: Readonly<Record<string, Rejection>> = rejections[channel];
  const name = channel === "whatsapp" ? findRejectionCode(code) : code;
  return (Object.hasOwn(rows, name) ? rows[name] : undefined) ?? rejections[channel].other;
};

/** What the reason of a rejected message begins with. */
export const rejectedWith = (code: string): string => `rejected by the platform, code ${code}: `;

/** Describes the rejection as the reason of a failed message. */
export const describeRejection = (channel: ChannelName, code: string): string =>
  `${rejectedWith(code)}${findRejection(channel, code).says}`;
