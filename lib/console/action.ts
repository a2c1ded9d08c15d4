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

const readPhone = ({ field, say }: Form): string => {
  const phone = findPhone(field);
  if (phone === undefined) throw badRequest(say("failures.phone"));
  return phone;
};

const readOptOut = (form: Form): string => {
  if (form.field("confirmed") !== "yes") throw badRequest(form.say("failures.optOutUnconfirmed"));
  return readPhone(form);
};

/** Forms send line breaks as CR LF, which phones show as two. */
const readAnswer = ({ field, say }: Form): string => {
  const answer = field("answer").replaceAll("\r\n", "\n").trim();
  if (answer === "" || answer.length > maxAnswerLength || answer.includes("\0"))
    throw badRequest(say("failures.badAnswer", { max: maxAnswerLength }));
  return answer;
};

const actions = {
  pause: {
    role: "operator",
    run: async ({ setPaused }, { say }) => {
      await setPaused(true);
      return say("notices.paused");
    },
    failed: "failures.pause",
  },
  resume: {
    role: "operator",
    run: async ({ setPaused }, { say }) => {
      await setPaused(false);
      return say("notices.resumed");
    },
    failed: "failures.resume",
  },
  "pairing-code": {
    role: "operator",
    run: async ({ requestPairingCode }, form) =>
      form.say("notices.pairingCode", { code: await requestPairingCode(readPhone(form), form.account) }),
    failed: "failures.pairing-code",
  },
  unlink: {
    role: "admin",
    run: async ({ unlink }, { account, field, say }) => {
      const word = say("unlinking.word");
      if (field("confirmation").trim().toLowerCase() !== word)
        throw badRequest(say("failures.unconfirmed", { word }));
      return say((await unlink(account)) ? "notices.unlinked" : "notices.unlinkedHere");
    },
    failed: "failures.unlink",
  },
  "log-in": {
    role: "operator",
    run: async ({ logIn }, { account, say }) => {
      await logIn(account);
      return say("notices.connecting");
    },
    failed: "failures.notStopped",
  },
  "opt-out": {
    role: "operator",
    run: async ({ optOut }, form) => {
      const phone = readOptOut(form);
      const notice = (await optOut(phone)) ? "notices.optedOut" : "notices.optedOutBefore";
      return form.say(notice, { phone: maskPhone(phone) });
    },
    failed: "failures.optOut",
  },
  "opt-in": {
    role: "operator",
    run: async ({ optIn }, form) => {
      const phone = readOptOut(form);
      const notice = (await optIn(phone)) ? "notices.optedIn" : "notices.notOptedOut";
      return form.say(notice, { phone: maskPhone(phone) });
    },
    failed: "failures.optOut",
  },
  answer: {
    role: "operator",
    run: async ({ setAnswer }, form) => {
      await setAnswer(readAnswer(form));
      return form.say("notices.answerSet");
    },
    failed: "failures.answer",
  },
  "no-answer": {
    role: "operator",
    run: async ({ setAnswer }, { say }) => {
      await setAnswer(null);
      return say("notices.answerRemoved");
    },
    failed: "failures.answer",
  },
  "cancel-run": {
    role: "operator",
    run: async ({ cancelRun }, { field, say }) => {
      if (field("confirmed") !== "yes") throw badRequest(say("failures.runUnconfirmed"));
      const run = findRun(field);
      const cancelled = run && (await cancelRun(run));
      if (typeof cancelled !== "number") throw badRequest(say("failures.noRun"));
      return say("notices.runCancelled", { count: cancelled });
    },
    failed: "failures.cancelRun",
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
