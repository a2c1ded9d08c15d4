import { setTimeout } from "node:timers/promises";
import { unauthorized } from "#lib/http/fault.ts";
import type { LoginToken } from "#lib/routes/employee.ts";
import { throttled } from "./attempt.ts";
import { authenticate } from "./legacy-auth.ts";
import { refusalDelayMs } from "./refusal.ts";
import { startSession } from "./session.ts";

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Exchanges the credentials of a legacy account for a session.
 *
 * @param address where the caller is, for the throttle.
 * @throws Fault 401, one and the same for an unknown account, a wrong password and a username of the wrong
 * kind; 429 after too many of them.
 */
export const login = async ({ username, password }: Credentials, address: string): Promise<LoginToken> => {
  const started = performance.now();
  const account = await throttled({ kind: "login", account: username, from: { address } }, () =>
    authenticate(username, password),
  );
  if (account) return startSession(account);
  await setTimeout(refusalDelayMs(performance.now() - started));
  throw unauthorized("Username or password is wrong");
};
