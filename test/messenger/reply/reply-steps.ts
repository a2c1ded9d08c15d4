import type { proto } from "baileys";
import { expect } from "vitest";
import { digestWith } from "#lib/secrets/pepper.ts";
import type { Envelope, Phone } from "../../../infra/local/whatsapp/phone.ts";
import { pepper } from "../../fleet/assignment.ts";
import { database, phone, platform } from "../../fleet/running-task.ts";

/** With the pepper of the task. */
const digestOf = digestWith({ version: 1, pepper }).digest;

export const isOut = async (number = phone): Promise<boolean> =>
  (await database.admin`select from notification.opt_out where digest = ${digestOf(number)}`).length > 0;

/** Resolves once the messenger has acknowledged everything. */
export const untilHandled = () => platform.until(() => platform.unacknowledged === 0);

/** Sends a message from the citizen's phone, and waits until it is handled. */
export const write = async (
  message: proto.IMessage | string,
  envelope?: Envelope,
  from: Phone = platform.phone(phone),
) => {
  const content = typeof message === "string" ? { conversation: message } : message;
  const ids = await platform.post(from, content, envelope);
  expect(ids).not.toEqual([]);
  await untilHandled();
};

/** What the messenger has written by itself, to anybody by default. */
export const listReplies = (number = "") => database.admin<{ text: string; state: string; class: number }[]>`
  select content ->> 'text' as text, state, priority as class from messaging.message
  where sender = 'reply' and phone like ${`${number}%`} order by seq`;

/** Resolves once as many texts are on the phone. */
export const untilTexts = async (count: number, number = phone): Promise<string[]> => {
  await platform.until(() => platform.phone(number).inbox.length >= count);
  return platform.phone(number).inbox.map(({ text }) => text);
};
