import { setTimeout } from "node:timers/promises";
import { Fault } from "#lib/faults/fault.ts";
import { wrongLogin } from "#lib/faults/table.ts";
import type { LoginToken } from "#lib/routes/employee.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { throttled } from "./attempt.ts";
import { authenticate } from "./legacy-auth.ts";
import { nameTerm } from "./name-term.ts";
import { rejectionDelayMs } from "./rejection-delay.ts";
import { startSession } from "./session.ts";

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Exchanges the credentials of a legacy account for a session.
 *
 * @param address the caller's IP address, for rate limiting.
 * @throws Fault 401, the same for an unknown account, a wrong password and a wrong kind of username; 429 after too
 * many failures.
 */
export const login = async ({ username, password }: Credentials, address: string): Promise<LoginToken> => {
  const started = performance.now();
  const account = await throttled({ name: username, address }, () => authenticate(username, password));
  if (account) return startSession(account, (await digestTerm()).digest(nameTerm(username)));
  await setTimeout(rejectionDelayMs(performance.now() - started));
  throw new Fault(wrongLogin);
};
