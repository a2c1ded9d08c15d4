import type postgres from "postgres";
import type { Inbound } from "#lib/channels/channel.ts";
import { log } from "#lib/log.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { setPreference, type Wish } from "#lib/notification/opt-out.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";
import { claimAnswer, countUnresolved, findAnswer } from "../outbox/answer.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import { storeMessages } from "../outbox/store.ts";
import { readWish } from "./words.ts";

export type Pepper = Awaited<ReturnType<typeof digestTerm>>;

/** What was done about a message from a person; `unresolved`: nothing about a word, because its number is unknown. */
export type Reaction = "opted_out" | "opted_in" | "answered" | "unresolved";

export interface ReplyOptions {
  readonly sql: postgres.Sql;
  readonly findPepper: () => Promise<Pepper>;
  readonly newId: () => string;
  /** Wakes the sender. */
  readonly notify: () => void;
  readonly signal: AbortSignal;
}

/** The first in Indonesian, the language of nearly all; persons reply in the language of their messages. */
const confirmations: Readonly<Record<Wish, string>> = {
  out: `Nomor Anda tidak lagi menerima pengingat dan pesan massal dari kami. Pesan penting tetap dikirim. Balas MULAI untuk menerimanya kembali.

Your number gets no more reminders and bulk messages from us. Important messages are still sent. Reply START to get them again.`,
  in: `Nomor Anda kembali menerima pengingat dan pesan massal dari kami. Balas BERHENTI untuk menghentikannya.

Your number gets reminders and bulk messages from us again. Reply STOP to end them.`,
};

const confirmationSeconds = 24 * 60 * 60;
/** Later than that, an answer puzzles its reader. */
const answerSeconds = 60 * 60;

/** Stores a text to a person who has written, in the transaction of what it is about: both are stored once, or neither. */
const storeText = async (
  sql: postgres.ISql,
  { newId }: ReplyOptions,
  phone: string,
  text: string,
  seconds: number,
) => {
  const submission = Submission.parse({
    ...{ sender: "reply", kind: "text", phone, text, class: "transactional", expires_in_seconds: seconds },
  } satisfies Partial<Submission>);
  await storeMessages(sql, [{ id: newId(), submission, mediaId: null }]);
};

/**
 * Stores a wish and its confirmation. A word that changes nothing, such as a repeated one, is not confirmed; nor is any for
 * the second time in a day: a person who writes STOP and START in turns would use up what the number may send.
 */
const follow = async (options: ReplyOptions, phone: string, wish: Wish): Promise<Reaction | undefined> => {
  const pepper = await options.findPepper();
  const isChanged = await options.sql.begin(async (sql) => {
    if (!(await setPreference(sql, pepper, phone, wish))) return false;
    const digest = pepper.digest(`confirmation/${wish}/${phone}`);
    if (digest && (await claimAnswer(sql, digest)))
      await storeText(sql, options, phone, confirmations[wish], confirmationSeconds);
    return true;
  });
  return isChanged ? `opted_${wish}` : undefined;
};

/** Answers what cannot be read, if an operator has set an answer, once a day. */
const answer = async (options: ReplyOptions, phone: string): Promise<Reaction | undefined> => {
  const text = await findAnswer(options.sql);
  if (text === null) return undefined;
  const digest = (await options.findPepper()).digest(phone);
  const isNew = await options.sql.begin(async (sql) => {
    if (!digest || !(await claimAnswer(sql, digest))) return false;
    await storeText(sql, options, phone, text, answerSeconds);
    return true;
  });
  return isNew ? "answered" : undefined;
};

const react = async (options: ReplyOptions, inbound: Inbound): Promise<Reaction | undefined> => {
  const { phone, text, sentAt, isLate, isEdit } = inbound;
  const wish = text === undefined ? undefined : readWish(text, Date.now() - sentAt.getTime());
  if (wish && phone !== undefined) return follow(options, phone, wish);
  if (wish) {
    if (wish === "out") await countUnresolved(options.sql);
    return "unresolved";
  }
  return phone === undefined || isLate || isEdit ? undefined : answer(options, phone);
};

/**
 * Reads what persons send to the city's number: one of a few words, nothing else. Of anything else it is only noted, as
 * HMAC for a day, that its sender was answered.
 *
 * @returns a function that resolves once all that follows from a message is stored. @throws when the signal is aborted
 * before; then the platform must deliver the message again.
 */
export const readReplies =
  (options: ReplyOptions) =>
  async (inbound: Inbound): Promise<void> => {
    const { signal, notify } = options;
    let isDone = false;
    await retryUntilDone(async () => {
      const reaction = await react(options, inbound);
      isDone = true;
      if (!reaction) return;
      log.info("a message from a person", { reaction });
      notify();
    }, signal);
    if (!isDone) signal.throwIfAborted();
  };
