/** Longer than a legacy system takes to reject a login for any reason. */
const stepMs = 500;

/**
 * Returns how long to delay a rejection, so that it is sent at a whole multiple of the step: response times do not
 * reveal whether the account is unknown or the password wrong.
 *
 * @param elapsedMs time since the request arrived.
 */
export const rejectionDelayMs = (elapsedMs: number): number => stepMs - (elapsedMs % stepMs);
