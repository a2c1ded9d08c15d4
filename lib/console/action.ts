import { badRequest } from "#lib/errors/invalid-input.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { maxAnswerLength } from "#lib/messenger/outbox/answer.ts";
import type { Notice } from "./login/operator-login.ts";
import type { Acts } from "./panels/acts.ts";
import { type Action, type Form, findPhone, findRun, performAction } from "./perform.ts";

/** The name of the account that the action is about; undefined for the only one. */
type Chosen = string | undefined;

/** What the operator can do. A {@link ApiError} of status 400 to 499 is shown as it is. */
export interface Actions {
  readonly setPaused: (paused: boolean) => Promise<void>;
  /** @param phone digits with country code. @returns the code to enter on the phone. */
  readonly requestPairingCode: (phone: string, account: Chosen) => Promise<string>;
  /** @returns false if the phone may still list the device. */
  readonly unlink: (account: Chosen) => Promise<boolean>;
  /** Logs in, or starts pairing, after logins were stopped. */
  readonly logIn: (account: Chosen) => Promise<void>;
  /** Stops reminders and bulk messages to a number. @returns false if it had already opted out. */
  readonly optOut: (phone: string) => Promise<boolean>;
  /** @returns false if the number had not opted out. */
  readonly optIn: (phone: string) => Promise<boolean>;
  /** @param answer what persons are answered who write to the city's number; null for no answer. */
  readonly setAnswer: (answer: string | null) => Promise<void>;
  /** @returns how many messages of the bulk run were cancelled; undefined if there is no such run. */
  readonly cancelRun: (name: string) => Promise<number | undefined>;
}

const readPhone = ({ field, words }: Form): string => {
  const phone = findPhone(field);
  if (phone === undefined) throw badRequest(words.failures.phone);
  return phone;
};

const readOptOut = (form: Form): string => {
  if (form.field("confirmed") !== "yes") throw badRequest(form.words.failures.optOutUnconfirmed);
  return readPhone(form);
};

/** Forms send line breaks as CR LF, which phones show as two. */
const readAnswer = ({ field, words }: Form): string => {
  const answer = field("answer").replaceAll("\r\n", "\n").trim();
  if (answer === "" || answer.length > maxAnswerLength || answer.includes("\0"))
    throw badRequest(words.failures.badAnswer(maxAnswerLength));
  return answer;
};

const actions = {
  pause: {
    role: "operator",
    run: async ({ setPaused }, { words }) => {
      await setPaused(true);
      return words.notices.paused;
    },
    failed: ({ pause }) => pause,
  },
  resume: {
    role: "operator",
    run: async ({ setPaused }, { words }) => {
      await setPaused(false);
      return words.notices.resumed;
    },
    failed: ({ resume }) => resume,
  },
  "pairing-code": {
    role: "operator",
    run: async ({ requestPairingCode }, form) =>
      form.words.notices.pairingCode(await requestPairingCode(readPhone(form), form.account)),
    failed: (failures) => failures["pairing-code"],
  },
  unlink: {
    role: "admin",
    run: async ({ unlink }, { account, field, words }) => {
      const { word } = words.unlinking;
      if (field("confirmation").trim().toLowerCase() !== word)
        throw badRequest(words.failures.unconfirmed(word));
      const { unlinked, unlinkedHere } = words.notices;
      return (await unlink(account)) ? unlinked : unlinkedHere;
    },
    failed: (failures) => failures.unlink,
  },
  "log-in": {
    role: "operator",
    run: async ({ logIn }, { account, words }) => {
      await logIn(account);
      return words.notices.connecting;
    },
    failed: ({ notStopped }) => notStopped,
  },
  "opt-out": {
    role: "operator",
    run: async ({ optOut }, form) => {
      const phone = readOptOut(form);
      const { optedOut, optedOutBefore } = form.words.notices;
      return ((await optOut(phone)) ? optedOut : optedOutBefore)(maskPhone(phone));
    },
    failed: (failures) => failures.optOut,
  },
  "opt-in": {
    role: "operator",
    run: async ({ optIn }, form) => {
      const phone = readOptOut(form);
      const { optedIn, notOptedOut } = form.words.notices;
      return ((await optIn(phone)) ? optedIn : notOptedOut)(maskPhone(phone));
    },
    failed: (failures) => failures.optOut,
  },
  answer: {
    role: "operator",
    run: async ({ setAnswer }, form) => {
      await setAnswer(readAnswer(form));
      return form.words.notices.answerSet;
    },
    failed: (failures) => failures.answer,
  },
  "no-answer": {
    role: "operator",
    run: async ({ setAnswer }, { words }) => {
      await setAnswer(null);
      return words.notices.answerRemoved;
    },
    failed: (failures) => failures.answer,
  },
  "cancel-run": {
    role: "operator",
    run: async ({ cancelRun }, { field, words: { failures, notices } }) => {
      if (field("confirmed") !== "yes") throw badRequest(failures.runUnconfirmed);
      const run = findRun(field);
      const cancelled = run && (await cancelRun(run));
      if (typeof cancelled !== "number") throw badRequest(failures.noRun);
      return notices.runCancelled(cancelled);
    },
    failed: ({ cancelRun }) => cancelRun,
  },
} satisfies Record<string, Action<Actions>>;

type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

/** Performs an action that its operator may perform, and records it. It never throws: the notice contains the result. */
export const perform = (
  options: Actions & { readonly acts: Acts },
  name: ActionName,
  form: Form,
): Promise<Notice> => performAction(options, name, actions[name], form);
