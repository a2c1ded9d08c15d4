import { describeRefusal, findRefusalCode } from "#lib/channels/platform-codes.ts";
import { type ReasonName, reasons } from "#lib/messenger/outbox/message.ts";
import type { Words } from "./en.ts";

/** What a code of the platform for a connection or a login says, and what to do. */
export const adviceOf = ({ disconnections }: Words, code: number | undefined) =>
  (disconnections as Readonly<Record<number, Words["passkey"]>>)[code ?? 0] ?? disconnections.unknown;

const names = Object.keys(reasons) as ReasonName[];

/**
 * Translates the reason of a message as it is stored.
 *
 * @param code with which the platform has rejected it.
 */
export const describeReason = (words: Words, reason: string | null, code: string | null): string => {
  const refusal = code === null ? undefined : words.refusals[findRefusalCode(code)];
  if (code !== null && refusal && reason === describeRefusal(code)) return words.refused(code, refusal.says);
  const name = names.find((one) => reason?.startsWith(reasons[one]));
  const said = name ? words.reasons[name] : reason;
  const before = code !== null && refusal && words.refusedBefore(code, refusal.says);
  return [said, before].filter(Boolean).join("; ");
};

/** What the operator does about a rejection. */
export const adviceOfRefusal = ({ refusals }: Words, code: string): string =>
  refusals[findRefusalCode(code)].operator;
