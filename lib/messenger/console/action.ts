import { deadline } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import { isPhone, maskPhone, readLocalNumber } from "#lib/messaging/phone.ts";
import { BulkName } from "#lib/messaging/submission.ts";
import { maxAnswerLength } from "../outbox/answer.ts";
import type { Notice } from "./login/operator-login.ts";
import { isAllowed, type Operator, type Role } from "./login/roles.ts";
import type { Acts } from "./state/acts.ts";
import type { Words } from "./words/en.ts";

/** With those of acts.ts less than the timeout of the page: the notice can say which component is not responding. */
const timeoutMs = 20_000;

/** The name of the account that the action is about; undefined for the only one. */
type Chosen = string | undefined;

/** What the operator can do. A {@link Fault} of status 400 to 499 is shown as it is. */
export interface Actions {
  readonly setPaused: (paused: boolean) => Promise<void>;
  /** @param phone digits with country code. @returns the code to enter on the phone. */
  readonly requestPairingCode: (phone: string, account: Chosen) => Promise<string>;
  /** @returns false if the phone may still list the device. */
  readonly unlink: (account: Chosen) => Promise<boolean>;
  /** Logs in, or starts pairing, after logins were stopped. */
  readonly logIn: (account: Chosen) => Promise<void>;
  /** @returns false if no link is archived. @throws Error if a phone is linked. */
  readonly restoreLink: (account: Chosen) => Promise<boolean>;
  /** @returns false if it is not a version that can be announced. */
  readonly setVersion: (version: string, account: Chosen) => Promise<boolean>;
  /** Stops reminders and bulk messages to a number. @returns false if it had already opted out. */
  readonly optOut: (phone: string) => Promise<boolean>;
  /** @returns false if the number had not opted out. */
  readonly optIn: (phone: string) => Promise<boolean>;
  /** @param answer what persons are answered who write to the city's number; null for no answer. */
  readonly setAnswer: (answer: string | null) => Promise<void>;
  /** @returns how many messages of the bulk run were cancelled; undefined if there is no such run. */
  readonly cancelRun: (name: string) => Promise<number | undefined>;
}

interface Form {
  readonly account: Chosen;
  readonly field: (name: string) => string;
  readonly words: Words;
}

interface Action {
  /** Who may perform it. */
  readonly role: Role;
  readonly run: (actions: Actions, form: Form) => Promise<string>;
  readonly failed: (failures: Words["failures"]) => string;
}

const findPhone = (field: Form["field"]): string | undefined => {
  const phone = readLocalNumber(field("phone"));
  return isPhone(phone) ? phone : undefined;
};

const readPhone = ({ field, words }: Form): string => {
  const phone = findPhone(field);
  if (phone === undefined) throw badRequest(words.failures.phone);
  return phone;
};

const readOptOut = (form: Form): string => {
  if (form.field("confirmed") !== "yes") throw badRequest(form.words.failures.optOutUnconfirmed);
  return readPhone(form);
};

const findRun = (field: Form["field"]): string | undefined => BulkName.safeParse(field("run")).data;

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
  "old-link": {
    role: "operator",
    run: async ({ restoreLink }, { account, words }) => {
      if (!(await restoreLink(account))) throw badRequest(words.failures.noArchive);
      return words.notices.oldLink;
    },
    failed: ({ oldLink }) => oldLink,
  },
  version: {
    role: "operator",
    run: async ({ setVersion }, { account, field, words }) => {
      if (!(await setVersion(field("version"), account))) throw badRequest(words.failures.badVersion);
      return words.notices.version;
    },
    failed: ({ version }) => version,
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
} satisfies Record<string, Action>;

export type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

const describe = (error: unknown, name: ActionName, { failures }: Words): string => {
  if (error instanceof Fault && error.code === "not_leader") return failures.notLeader;
  if (error instanceof Fault && error.status < 500) return error.message;
  log.error("console action failed", { action: name, error });
  return actions[name].failed(failures);
};

/** Performs an action that its operator may perform, and records it. It never throws: the notice contains the result. */
export const perform = async (
  options: Actions & { readonly acts: Acts },
  operator: Operator,
  name: ActionName,
  form: Form,
): Promise<Notice> => {
  const { run, role } = actions[name];
  const { acts } = options;
  const { notices, page } = form.words;
  const phone = findPhone(form.field);
  const about = phone === undefined ? findRun(form.field) : maskPhone(phone);
  const subject = [form.account, about].filter(Boolean).join(" ") || undefined;
  const id = await acts.begin(operator, name, subject).catch((error: unknown) => {
    log.error("console action could not be recorded", { action: name, error });
    return undefined;
  });
  if (id === undefined) return { kind: "failed", text: notices.notRecorded };
  if (!isAllowed(operator, role)) {
    await acts.end(id, "denied");
    return { kind: "failed", text: notices.notAllowed(page.roles[role]) };
  }
  const running = run(options, form).then(
    (text): Notice => ({ kind: "done", text }),
    (error: unknown): Notice => ({ kind: "failed", text: describe(error, name, form.words) }),
  );
  // when it has ended, however late: that it takes long does not say that it fails
  const recorded = running.then(({ kind }) => acts.end(id, kind));
  try {
    const notice = await deadline(running, timeoutMs);
    await recorded;
    return notice;
  } catch {
    return { kind: "failed", text: notices.outcomeUnknown };
  }
};
