import { deadline } from "#lib/deadline.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { log } from "#lib/log.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { readPhone } from "#lib/messaging/phone-reading.ts";
import { BulkName } from "#lib/messaging/submission.ts";
import type { Notice } from "./login/operator-login.ts";
import { isAllowed, type Operator, type Role } from "./login/roles.ts";
import type { Acts } from "./panels/acts.ts";
import type { Say, TextKey } from "./words.ts";

/** With those of acts.ts less than the timeout of the page: the notice can say which component is not responding. */
const defaultTimeoutMs = 20_000;

/** What an operator has sent. */
export interface Form {
  readonly operator: Operator;
  /** The name of the account that the action is about; undefined for the only one. */
  readonly account: string | undefined;
  readonly field: (name: string) => string;
  readonly say: Say;
}

/** One action of the console. What it does can be done to `O`. */
export interface Action<O, F extends Form = Form> {
  /** Who may perform it. */
  readonly role: Role;
  /** How long the page waits for it. Default: 20 s. */
  readonly timeoutMs?: number;
  /** What the record says it is about, besides account, number and run. */
  readonly subject?: (form: F) => string | undefined;
  /** @returns the notice. */
  readonly run: (on: O, form: F) => Promise<string>;
  /** The notice for an error that the operator cannot correct. */
  readonly failed: TextKey;
  /** The notice for an error that the operator can correct. */
  readonly explain?: (error: unknown, say: Say) => string | undefined;
}

export const findPhone = (field: Form["field"]): string | undefined => {
  const read = readPhone(field("phone"));
  return "phone" in read ? read.phone : undefined;
};

export const findRun = (field: Form["field"]): string | undefined => BulkName.safeParse(field("run")).data;

const describe = <O, F extends Form>(
  error: unknown,
  name: string,
  { explain, failed }: Action<O, F>,
  say: Say,
): string => {
  if (error instanceof ApiError && error.code === "not_leader") return say("failures.notLeader");
  if (error instanceof ApiError && error.status < 500) return error.message;
  const explained = explain?.(error, say);
  if (explained !== undefined) return explained;
  log.error("console action failed", { action: name, error });
  return say(failed);
};

const findSubject = <O, F extends Form>({ subject }: Action<O, F>, form: F): string | undefined => {
  const phone = findPhone(form.field);
  const about = phone === undefined ? findRun(form.field) : maskPhone(phone);
  return [form.account, about, subject?.(form)].filter(Boolean).join(" ") || undefined;
};

/** Performs an action that its operator may perform, and records it. It never throws: the notice contains the result. */
export const performAction = async <O extends { readonly acts: Acts }, F extends Form>(
  on: O,
  name: string,
  action: Action<O, F>,
  form: F,
): Promise<Notice> => {
  const { acts } = on;
  const { timeoutMs = defaultTimeoutMs } = action;
  const { operator, say } = form;
  const id = await acts.begin(operator, name, findSubject(action, form)).catch((error: unknown) => {
    log.error("console action could not be recorded", { action: name, error });
    return undefined;
  });
  if (id === undefined) return { kind: "failed", text: say("notices.notRecorded") };
  if (!isAllowed(operator, action.role)) {
    await acts.end(id, "denied");
    return { kind: "failed", text: say("notices.notAllowed", { role: say(`page.roles.${action.role}`) }) };
  }
  const running = action.run(on, form).then(
    (text): Notice => ({ kind: "done", text }),
    (error: unknown): Notice => ({ kind: "failed", text: describe(error, name, action, say) }),
  );
  // when it has ended, however late: that it takes long does not say that it fails
  const recorded = running.then(({ kind }) => acts.end(id, kind));
  try {
    const notice = await deadline(running, timeoutMs);
    await recorded;
    return notice;
  } catch {
    return { kind: "failed", text: say("notices.outcomeUnknown", { seconds: timeoutMs / 1_000 }) };
  }
};
