import type { Api } from "../../../infra/aws/api.ts";
import { integrationApi } from "../../../infra/aws/integration-api.ts";
import { messagingApi } from "../../../infra/aws/messaging-api.ts";
import type { City } from "../../../infra/local/city.ts";
import { startGateway } from "../../../infra/local/gateway/gateway.ts";
import { restApiOf } from "../../../infra/local/gateway/route-table.ts";
import { demoPhone } from "../../../infra/local/messenger/messenger.ts";
import { openSystem, overHttp } from "../../contract/system.ts";
import { readPeakBytes } from "../../steps/peak-memory.ts";
import { attackAccess } from "./access.ts";
import { attackWithBombs, attackWithUploads } from "./bombs.ts";
import { type Finding, Tally } from "./finding.ts";
import { attackWithFloods } from "./floods.ts";
import { attackDownloads } from "./forbidden-downloads.ts";
import { attackInputs, type Effort } from "./inputs.ts";
import { type LeakWatch, listSecrets } from "./leaks.ts";
import { attackSlowly } from "./slow-clients.ts";
import type { Target } from "./target.ts";

/** How much of each attack. */
export interface Scale extends Effort {
  readonly uploads: number;
  readonly slowClients: number;
  /** Requests of each flood. */
  readonly flood: number;
  /** Names of attacks; all of them by default. */
  readonly only?: readonly string[] | undefined;
}

const endless = { requestsPerSecond: 1e9, burst: 1e9, requestsPerDay: Number.MAX_SAFE_INTEGER };

/** Without limits of the gateway, which would keep inputs from the functions. */
const withoutLimits = (api: Api): Api => ({
  ...api,
  routes: api.routes.map(({ throttle: _, ...route }) => route),
  throttle: endless,
  usagePlans: { endless },
});

const openUnlimited = (api: Api, { invoke }: City) =>
  startGateway({ api: restApiOf(withoutLimits(api)), invoke, findPlan: async () => "endless" });

/** The container's limit (infra/aws/constructs/messenger-task.ts). */
const taskMib = 512;

const judgeMemory = ({ messenger }: City): Finding[] => {
  const bytes = messenger && readPeakBytes(messenger.process.pid);
  if (bytes === undefined) return [];
  const peak = Math.round(bytes / 1024 ** 2);
  const tally = new Tally(`the messenger's memory, at most ${peak} MiB`);
  tally.count(peak > taskMib ? `${peak} MiB are more than its container's ${taskMib}` : undefined);
  return [tally.finding];
};

/** The attacks, by the name that selects one. */
const attacks: Readonly<Record<string, (target: Target, scale: Scale) => Promise<Finding[]>>> = {
  access: attackAccess,
  floods: (target, { flood }) => attackWithFloods(target, flood),
  bombs: attackWithBombs,
  uploads: (target, { uploads }) => attackWithUploads(target, uploads),
  slow: (target, { slowClients }) => attackSlowly(target, slowClients),
  inputs: attackInputs,
  addresses: async ({ city }, scale) => (city ? attackDownloads(scale) : []),
};
export const attackNames = Object.keys(attacks);

/** Runs the attacks that a target allows, one after the other. @param onFindings called after each. */
export const attack = async (
  target: Target,
  scale: Scale,
  onFindings: (findings: readonly Finding[]) => void = () => {},
): Promise<Finding[]> => {
  const all: Finding[] = [];
  for (const name of scale.only ?? attackNames) {
    const findings = (await attacks[name]?.(target, scale)) ?? [];
    all.push(...findings);
    onFindings(findings);
  }
  return all;
};

/** The options of a city whose logs are watched. */
export const watchedBy = (watch: LeakWatch) => ({
  onAccess: (line: string) => watch.read("the access log", line),
  onLog: (fn: string, line: string) => watch.read(fn, line),
  onDatabaseLog: (line: string) => watch.read("the database's log", line),
});

/** Attacks a city of this process, also its parts, its logs and its files. @param folder of the city. */
export const attackCity = async (
  city: City,
  folder: string,
  watch: LeakWatch,
  scale: Scale,
  onFindings: (findings: readonly Finding[]) => void = () => {},
): Promise<Finding[]> => {
  const { baseUrl: integration, messagingBaseUrl: messaging, apiKey, basic, upstreams } = city;
  const { username, password, nip, passphrase } = upstreams.demo;
  const account = { username, password };
  const credentials = { apiKey, basic, account, employee: { nip, passphrase }, phone: demoPhone };
  watch.forbid(listSecrets(city.secrets));
  const unlimited = await Promise.all([
    openUnlimited(integrationApi, city),
    openUnlimited(messagingApi, city),
  ]);
  const send = overHttp({ integration, messaging });
  const login = await openSystem({ credentials, send }).logIn();
  const target: Target = {
    addresses: { integration, messaging },
    unlimited: { integration: unlimited[0].url, messaging: unlimited[1].url },
    credentials,
    token: login.json.token,
    city,
    pace: async () => {},
  };
  try {
    const findings = await attack(target, scale, onFindings);
    const last = [...judgeMemory(city), ...watch.finish(folder)];
    onFindings(last);
    return [...findings, ...last];
  } finally {
    await Promise.all(unlimited.map((gateway) => gateway.stop()));
  }
};
