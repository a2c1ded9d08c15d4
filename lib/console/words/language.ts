import { findRow, rejectedWith } from "#lib/channels/codes.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { type MessageSummary, type ReasonName, reasons } from "#lib/messenger/outbox/message.ts";
import type { Connection } from "../state.ts";
import { en, type Words } from "./en.ts";
import { id } from "./id.ts";

export const languages = { en, id } satisfies Record<string, Words>;
export type Language = keyof typeof languages;

export const isLanguage = (name: string | undefined): name is Language =>
  name !== undefined && Object.hasOwn(languages, name);

/** @param header `Accept-Language`. @returns the language that the reader prefers among those of the console. */
const preferred = (header: string): Language => {
  const wanted = header.split(",").map((entry, index) => {
    const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
    const weight = parameters
      .find((parameter) => parameter.trim().startsWith("q="))
      ?.trim()
      .slice(2);
    // "in" is the old code of Indonesian
    const name = tag.split("-")[0]?.replace(/^in$/, "id");
    return { name, weight: Number(weight ?? 1), index };
  });
  const known = wanted.filter(({ name, weight }) => isLanguage(name) && weight > 0);
  const [best] = known.toSorted((one, other) => other.weight - one.weight || one.index - other.index);
  return isLanguage(best?.name) ? best.name : "en";
};

/** @param chosen with the switch of the page. */
export const findLanguage = (chosen: string | undefined, header: string | undefined): Language =>
  isLanguage(chosen) ? chosen : preferred(header ?? "");

/** What a code of the platform for a connection or a login says, and what to do. */
export const adviceOf = (
  { disconnections, unscanned }: Words,
  { answer = 0, unlinked }: Pick<Connection, "answer" | "unlinked"> = {},
): Words["passkey"] =>
  answer === 408 && unlinked
    ? unscanned
    : ((disconnections as Readonly<Record<number, Words["passkey"]>>)[answer] ?? disconnections.unknown);

const names = Object.keys(reasons) as ReasonName[];

/** What is said of a code with which a channel's platform rejects a message. */
const adviceOfCode = ({ rejections }: Words, channel: ChannelName, code: string) => {
  const rows: Readonly<Record<string, Words["passkey"]>> = rejections[channel];
  return rows[findRow(channel, code)] ?? rejections[channel].other;
};

/** Translates the reason of a message as it is stored. */
export const describeReason = (
  words: Words,
  { reason, code, channel }: Pick<MessageSummary, "reason" | "code" | "channel">,
): string => {
  const says = code === null ? undefined : adviceOfCode(words, channel, code).says;
  if (code !== null && says && reason?.startsWith(rejectedWith(code))) return words.refused(code, says);
  const name = names.find((one) => reason?.startsWith(reasons[one]));
  const said = name ? words.reasons[name] : reason;
  const before = code !== null && says && words.refusedBefore(code, says);
  return [said, before].filter(Boolean).join("; ");
};

/** What the operator does about a rejection. */
export const adviceOfRejection = (words: Words, channel: ChannelName, code: string): string =>
  adviceOfCode(words, channel, code).operator;
