import { setTimeout } from "node:timers/promises";
import { ApiError } from "#lib/errors/api-error.ts";
import { wrongLogin } from "#lib/errors/table.ts";
import type { LoginToken } from "#lib/routes/employee.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { nameTerm, throttled } from "./attempt.ts";
import { authenticate } from "./legacy-auth.ts";
import { startSession } from "./session.ts";

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Exchanges the credentials of a legacy account for a session.
 *
 * @param address the caller's IP address, for rate limiting.
 * @throws ApiError 401, the same for an unknown account, a wrong password and a wrong kind of username; 429 after too
 * many failures.
 */
export const login = async ({ username, password }: Credentials, address: string): Promise<LoginToken> => {
  const started = performance.now();
  const account = await throttled({ name: username, address }, () => authenticate(username, password));
  if (account) return startSession(account, (await digestTerm()).digest(nameTerm(username)));
  await setTimeout(rejectionDelayMs(performance.now() - started));
  throw new ApiError(wrongLogin);
};

/** Longer than a legacy system takes to reject a login for any reason. */
const stepMs = 500;

/**
 * Returns how long to delay a rejection, so that it is sent at a whole multiple of the step: response times do not
 * reveal whether the account is unknown or the password wrong.
 *
 * @param elapsedMs time since the request arrived.
 */
export const rejectionDelayMs = (elapsedMs: number): number => stepMs - (elapsedMs % stepMs);
