import { awaitWithin } from "#lib/deadline.ts";
import { Fault } from "#lib/faults/fault.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import { confirmation } from "./phone-section.ts";
import type { Notice } from "./visit.ts";

/** Less than the page waits, so that it is told which part does not answer. */
const maxWaitMs = 20_000;

/** What the operator can do. A {@link Fault} of status 400 to 499 is shown as it is. */
export interface Actions {
  readonly setPaused: (paused: boolean) => Promise<void>;
  /** @param phone digits with country code. @returns the code to be entered on the phone. */
  readonly requestPairingCode: (phone: string) => Promise<string>;
  readonly unlink: () => Promise<void>;
}

interface Action {
  /** @returns what the operator is told. */
  readonly run: (actions: Actions, field: (name: string) => string) => Promise<string>;
  /** What is said when it fails. */
  readonly failed: string;
}

const readPhone = (typed: string): string => {
  const digits = typed.replace(/[\s+().-]/g, "");
  if (!/^[1-9]\d{7,14}$/.test(digits))
    throw badRequest(
      "That is not a phone number: 8 to 15 digits with the country code, without a leading 0.",
    );
  return digits;
};

const actions = {
  pause: {
    run: async ({ setPaused }) => {
      await setPaused(true);
      return "Sending is paused.";
    },
    failed: "Sending could not be paused: the database does not answer.",
  },
  resume: {
    run: async ({ setPaused }) => {
      await setPaused(false);
      return "Sending is resumed.";
    },
    failed: "Sending could not be resumed: the database does not answer.",
  },
  "pairing-code": {
    run: async ({ requestPairingCode }, field) => {
      const code = await requestPairingCode(readPhone(field("phone")));
      return `The pairing code is ${code}. Enter it on the phone.`;
    },
    failed: "WhatsApp gave no pairing code. Try again, or use the QR code.",
  },
  unlink: {
    run: async ({ unlink }, field) => {
      if (field("confirmation").trim().toLowerCase() !== confirmation)
        throw badRequest(`Nothing was unlinked: type ${confirmation} to confirm.`);
      await unlink();
      return "The phone is unlinked.";
    },
    failed: "Unlinking failed: WhatsApp or the database does not answer. Look at the connection below.",
  },
} satisfies Record<string, Action>;

export type ActionName = keyof typeof actions;

/** Does what the operator asked for. It never throws: what came of it is the notice. */
export const perform = async (
  options: Actions,
  name: ActionName,
  field: (name: string) => string,
): Promise<Notice> => {
  const { run, failed } = actions[name];
  try {
    return { kind: "done", text: await awaitWithin(maxWaitMs, run(options, field)) };
  } catch (error) {
    if (error instanceof Fault && error.status < 500) return { kind: "failed", text: error.message };
    log.error("an action at the console failed", { action: name, error });
    return { kind: "failed", text: failed };
  }
};
