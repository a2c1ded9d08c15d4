import { getSetting } from "#lib/config.ts";
import { probe } from "#lib/probe.ts";

/** Asks both APIs for an answer at their public addresses, as a caller would. Fails when one gives none. */
export const handler = () =>
  probe({
    integration: getSetting("INTEGRATION_ADDRESS"),
    messaging: getSetting("MESSAGING_ADDRESS"),
  });
