import { examples } from "../../../infra/aws/config.ts";
import { listStacks } from "../composed-stage.ts";
import { LifeCycle, type Stage } from "./stage.ts";

type Context = Readonly<Record<string, unknown>>;

const [aurora, instance, existingServer] = examples.database as [Context, Context, Context];
const [ipv6, , existingNetwork] = examples.network as [Context, Context, Context];
const [domain] = examples.domain as [Context];

const databases = { aurora, instance, "existing server": existingServer };
/** The range of a network cannot be changed: both have the same one. */
const networks = { ipv6, nat: { egress: "nat" }, "existing network": existingNetwork };

/** Each documented combination of database, network and hosts, by name. */
const combinations: Readonly<Record<string, Context>> = Object.fromEntries(
  Object.entries(databases).flatMap(([kind, database]) =>
    Object.entries(networks).flatMap(([egress, network]) => [
      [`${kind}, ${egress}`, { database, network }],
      [`${kind}, ${egress}, domain`, { database, network, domain }],
    ]),
  ),
);

/** The configuration on which every other key is changed. */
export const usual = "aurora, ipv6";

/** Other documented values of the other keys. */
const changedKeys: Readonly<Record<string, Context>> = {
  "other alarm address": { alarmEmail: "other@city.example" },
  "other budget": { monthlyBudgetUsd: 400 },
  "other legacy systems": {
    upstream: {
      legacyAuthUrl: "https://a.city.example:8443/login",
      employeeSystemUrl: "http://b.city.example",
    },
  },
  "larger database": { database: { kind: "aurora", minCapacity: 1, maxCapacity: 16 } },
  "larger instance": { database: { ...instance, instanceClass: "t4g.medium", storageGb: 100 } },
  "no reserved concurrency": { functionConcurrency: 0 },
  "another number of messengers": { messengerTasks: 3 },
  "console login": { consoleLogin: examples.consoleLogin[0] },
  "citizens' portal": { citizenPortalRole: examples.citizenPortalRole[0] },
  "another country": { countryCode: "60", timeZone: "Asia/Kuala_Lumpur" },
  "version of WhatsApp Web": { webVersion: examples.webVersion[0] },
  "messenger's image": { messagingImage: examples.messagingImage[0] },
  "other hosts": { domain: { ...domain, integrationHost: "new.city.example", basePath: "v2" } },
  "other range": { network: { egress: "ipv6", cidr: "172.20.16.0/20" } },
  "second destination of alarms": { alarmUrl: examples.alarmUrl[0] },
  "larger account": { accountConcurrency: 2_000 },
  "copies of backups": { backupVaultArn: examples.backupVaultArn[0] },
  restored: { database: { ...aurora, restoreFrom: "municipal-before" } },
  protected: { protected: true },
};

const variants: Readonly<Record<string, Context>> = Object.fromEntries(
  Object.entries(changedKeys).map(([name, changed]) => [name, { ...combinations[usual], ...changed }]),
);

const contexts = { ...combinations, ...variants };

/** Every documented configuration. */
export const configurations: readonly string[] = Object.keys(contexts);

/** The keys that a configuration sets. */
export const configuredKeys: ReadonlySet<string> = new Set(Object.values(contexts).flatMap(Object.keys));

/** What leaves a named resource behind that is documented as one to import. */
export const leavesVault = "copies of backups";

/** What is documented as a key to set only later. */
export const whenComplete = "protected";

const isVariant = (name: string) => name in variants;
const contextOf = (name: string): { database: Context; network: Context } =>
  contexts[name] as { database: Context; network: Context };

/** The documented changes from a configuration: of database, network and hosts at once, or of one other key. */
export const changesFrom = (from: string): readonly string[] =>
  configurations.filter((to) => to !== from && !(isVariant(from) && isVariant(to)));

/** Whether a change is to another database server, which may have no schema. */
export const isOtherServer = (from: string, to: string): boolean => {
  const [before, after] = [contextOf(from).database, contextOf(to).database];
  return before.kind !== after.kind || before.restoreFrom !== after.restoreFrom;
};

/** Whether a change is to another network or range. */
export const isOtherNetwork = (from: string, to: string): boolean => {
  const placeOf = (name: string) => {
    const { network } = contextOf(name);
    return String(network.vpcId ?? network.cidr ?? ipv6.cidr);
  };
  return placeOf(from) !== placeOf(to);
};

const known = new Map<string, Stage>();

/** The stacks of a stage in a documented configuration. */
export const stacksOf = (stage: string, configuration: string): Stage => {
  const key = `${stage}: ${configuration}`;
  const found = known.get(key) ?? listStacks({ stage, ...contexts[configuration] });
  known.set(key, found);
  return found;
};

/** The life of a stage in all configurations. @param isImporting as of `LifeCycle`. */
export const lifeOf = (stage: string, isImporting = false): LifeCycle =>
  new LifeCycle(stage, (configuration) => stacksOf(stage, configuration), isImporting);
