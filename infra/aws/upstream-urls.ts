import type { Upstream } from "#lib/routes/route.ts";
import type { Config } from "./config.ts";
import { messengerPort } from "./constructs/network.ts";

/** Name of the messenger within the network, in the private zone of its stage. */
export const messengerHost = { name: "messenger", zone: (stage: string) => `municipal-${stage}.internal` };

/** Where a stage's systems are, for the functions that call them. */
export const upstreamUrls = ({ stage, upstream }: Config): Readonly<Record<Upstream, string>> => ({
  LEGACY_AUTH_URL: upstream.legacyAuthUrl,
  EMPLOYEE_SYSTEM_URL: upstream.employeeSystemUrl,
  MESSENGER_URL: `http://${messengerHost.name}.${messengerHost.zone(stage)}:${messengerPort}`,
});

/** The ports at which the old systems are called. */
export const upstreamPorts = ({ upstream }: Config): number[] =>
  Object.values(upstream).map((url) => {
    const { port, protocol } = new URL(url);
    return Number(port || (protocol === "https:" ? 443 : 80));
  });
