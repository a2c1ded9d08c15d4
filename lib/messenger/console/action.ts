import { deadline } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import type { Notice } from "./operator-login.ts";
import { confirmation } from "./phone-section.ts";

/** Less than the timeout of the page, so that the notice can say which component is not responding. */
const timeoutMs = 20_000;

/** What the operator can do. A {@link Fault} of status 400 to 499 is shown as it is. */
export interface Actions {
  readonly setPaused: (paused: boolean) => Promise<void>;
  /** @param phone digits with country code. @returns the code to enter on the phone. */
  readonly requestPairingCode: (phone: string) => Promise<string>;
  /** @returns false if the phone may still list the device. */
  readonly unlink: () => Promise<boolean>;
  /** Logs in, or starts pairing, after logins were stopped. */
  readonly logIn: () => Promise<void>;
  /** @returns false if no link is archived. @throws Error if a phone is linked. */
  readonly restoreLink: () => Promise<boolean>;
  /** @returns false if it is not a version that can be announced. */
  readonly setVersion: (version: string) => Promise<boolean>;
}

interface Action {
  readonly run: (actions: Actions, field: (name: string) => string) => Promise<string>;
  readonly failed: string;
}

const readPhone = (typed: string): string => {
  const digits = typed.replace(/[\s+().-]/g, "");
  if (!/^[1-9]\d{7,14}$/.test(digits))
    throw badRequest("Invalid phone number: enter 8 to 15 digits with country code, without a leading 0.");
  return digits;
};

const actions = {
  pause: {
    run: async ({ setPaused }) => {
      await setPaused(true);
      return "Sending paused.";
    },
    failed: "Sending could not be paused: the database is not responding.",
  },
  resume: {
    run: async ({ setPaused }) => {
      await setPaused(false);
      return "Sending resumed.";
    },
    failed: "Sending could not be resumed: the database is not responding.",
  },
  "pairing-code": {
    run: async ({ requestPairingCode }, field) => {
      const code = await requestPairingCode(readPhone(field("phone")));
      return `Pairing code: ${code}. Enter it on the phone.`;
    },
    failed: "WhatsApp returned no pairing code. Try again, or use the QR code.",
  },
  unlink: {
    run: async ({ unlink }, field) => {
      if (field("confirmation").trim().toLowerCase() !== confirmation)
        throw badRequest(`The phone was not unlinked: type ${confirmation} to confirm.`);
      if (await unlink()) return "Phone unlinked.";
      return "The keys are deleted, but WhatsApp has not confirmed it: if the phone still lists the device under Linked devices, remove it there.";
    },
    failed: "Unlinking failed: WhatsApp or the database is not responding. Check the connection below.",
  },
  "log-in": {
    run: async ({ logIn }) => {
      await logIn();
      return "Connecting to WhatsApp. The result is shown below.";
    },
    failed:
      "No login was tried: logins are not stopped any more, or the database is not responding. Check the connection below.",
  },
  "old-link": {
    run: async ({ restoreLink }) => {
      if (!(await restoreLink())) throw badRequest("No old link is archived: pair again.");
      return "Trying the old link once. The result is shown below.";
    },
    failed:
      "The old link was not tried: a phone is linked already, its keys cannot be read, or the database is not responding. Check the connection below.",
  },
  version: {
    run: async ({ setVersion }, field) => {
      if (!(await setVersion(field("version"))))
        throw badRequest(
          "The version was not set: enter three numbers with dots. The first two are those of the messenger's own version, and the last is not lower.",
        );
      return "Version set. The result is shown below.";
    },
    failed:
      "The version was not set: WhatsApp does not reject the current one any more, or the database is not responding.",
  },
} satisfies Record<string, Action>;

export type ActionName = keyof typeof actions;
export const actionNames = Object.keys(actions) as ActionName[];

/** Performs an action. It never throws: the notice contains the result. */
export const perform = async (
  options: Actions,
  name: ActionName,
  field: (name: string) => string,
): Promise<Notice> => {
  const { run, failed } = actions[name];
  try {
    return { kind: "done", text: await deadline(run(options, field), timeoutMs) };
  } catch (error) {
    if (error instanceof Fault && error.status < 500) return { kind: "failed", text: error.message };
    log.error("console action failed", { action: name, error });
    return { kind: "failed", text: failed };
  }
};
