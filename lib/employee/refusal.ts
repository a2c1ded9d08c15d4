/** Longer than a legacy system takes to refuse, whatever its reason. */
const stepMs = 500;

/**
 * The time to wait before a refusal is given, so that it comes at a whole multiple of the step: how soon
 * the legacy system refused an unknown account does not show beside how soon it refused a wrong password.
 *
 * @param elapsedMs since the request came.
 */
export const refusalDelayMs = (elapsedMs: number): number => stepMs - (elapsedMs % stepMs);
