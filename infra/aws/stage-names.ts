import type { Upstream } from "#lib/routes/route.ts";
import type { SecretName } from "#lib/secrets/table/table.ts";
import type { Config } from "./config.ts";

/** What the full names of a stage's secrets begin with. */
export const secretsPrefix = (stage: string): string => `municipal/${stage}/`;

export const secretName = (stage: string, name: SecretName): string => `${secretsPrefix(stage)}${name}`;

/** Returns the full name of a usage plan in a stage. `npm run city -- partner` finds the plan by it. */
export const usagePlanName = (stage: string, plan: string): string => `municipal-${stage}-${plan}`;

/** The messenger's port. */
export const messengerPort = 8080;

/** DNS name of the messenger in the private zone of its stage. */
export const messengerHost = { name: "messenger", zone: (stage: string) => `municipal-${stage}.internal` };

export const messengerUrl = (stage: string): string =>
  `http://${messengerHost.name}.${messengerHost.zone(stage)}:${messengerPort}`;

/** The URLs of the systems that functions call, by environment variable. */
export const upstreamUrls = ({ stage, upstream }: Config): Readonly<Record<Upstream, string>> => ({
  LEGACY_AUTH_URL: upstream.legacyAuthUrl,
  EMPLOYEE_SYSTEM_URL: upstream.employeeSystemUrl,
  MESSENGER_URL: messengerUrl(stage),
});

/** The ports of the legacy systems. */
export const upstreamPorts = ({ upstream }: Config): number[] =>
  Object.values(upstream).map((url) => {
    const { port, protocol } = new URL(url);
    return Number(port || (protocol === "https:" ? 443 : 80));
  });

interface City {
  readonly countryCode?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** Environment variables with the city's country and time zone, where they are not the default. */
export const cityVariables = ({ countryCode, timeZone }: City) => ({
  ...(countryCode && { COUNTRY_CODE: countryCode }),
  ...(timeZone && { TIME_ZONE: timeZone }),
});

/** The same of a stage, for commands. @param context of `cdk.json`. */
export const cityVariablesOf = (
  stage: string,
  { stages, ...all }: City & { readonly stages?: Readonly<Record<string, City>> },
) => cityVariables({ ...all, ...stages?.[stage] });
