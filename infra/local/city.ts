import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { jobs } from "#lib/notification/jobs.ts";
import { digestToken, mintToken } from "#lib/opaque-token.ts";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { hashPassword, isPasswordOf } from "#lib/password-hash.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { internalFunctions, messengerSecrets, rotate } from "#lib/routes/internal.ts";
import { type Address, partnerScopes, type Upstream } from "#lib/routes/route.ts";
import { mintedSecrets, type Secrets, secretTable } from "#lib/secrets/table/table.ts";
import type { Api } from "../aws/api.ts";
import { type Capacity, withCapacity } from "../aws/capacity.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { messagingApi } from "../aws/messaging-api.ts";
import { secretsPrefix } from "../aws/stage-names.ts";
import { bundleFolder, functionName } from "../build/build.ts";
import { type LocalDatabase, startDatabase } from "./database.ts";
import { localStage } from "./dev-file.ts";
import type { Invoke } from "./gateway/authorization.ts";
import { startGateway } from "./gateway/gateway.ts";
import { restApiOf } from "./gateway/route-table.ts";
import { cachePlans } from "./gateway/throttle.ts";
import { startJobs, startSchedule } from "./job-schedule.ts";
import type { Outcome } from "./lambda/environment.ts";
import { type Lambda, startLambda } from "./lambda/lambda.ts";
import { atPort, findPort, type Via } from "./loopback.ts";
import { startMessenger } from "./messenger/messenger.ts";
import { startBucket } from "./s3/bucket.ts";
import { startSecretsServer } from "./secrets/server.ts";
import { localSecretName, openStore, readLocalSecret, type SecretStore } from "./secrets/store.ts";
import { storeOffice } from "./seed/office.ts";
import { storeSeed } from "./seed/seed.ts";
import { inventPasswords, startUpstreams } from "./upstream/upstreams.ts";

export interface CityOptions {
  /** Folder for the database and the secrets. */
  readonly folder: string;
  /** Ports of the integration and the messaging API; 0 for any free port. */
  readonly port: number;
  readonly messagingPort: number;
  /** Ports of the console and of the simulated platform's control API. Default: any free ones. */
  readonly ports?: { readonly console: number; readonly platform: number };
  /** The messenger: with the simulated platform, to be paired with a real phone, or one that is already running. */
  readonly messenger?: "fake" | "real" | { readonly url: string };
  /** Minimum number of residents; invented ones are added. */
  readonly residents: number;
  /** Whether the data must survive a crash. */
  readonly durable: boolean;
  /** Whether to run scheduled functions; by default they run only when invoked. */
  readonly scheduled?: boolean;
  /** Whether each address has its rate limits, as on AWS. Tests send all their requests from one address. */
  readonly limitsAddresses?: boolean;
  /** The database's connections with all limits that follow from them, as on AWS; by default none of these limits. */
  readonly capacity?: Capacity;
  /** Receives one line per gateway response. */
  readonly onAccess: (line: string) => void;
  /** Receives each log line of a function. */
  readonly onLog: (fn: string, line: string) => void;
  /** Is called when the messenger has ended by itself, and is started again; by default it is not. */
  readonly onMessengerEnd?: () => void;
  /** Receives each line of the database server's log. */
  readonly onDatabaseLog?: (line: string) => void;
  /** Returns the port at which the other parts reach a system; by default its own. */
  readonly via?: Via;
  /** Until the bundles are built, if they are not yet. */
  readonly built?: Promise<unknown>;
  /** Aborts the start between two steps. */
  readonly signal?: AbortSignal;
  /** Receives the current step of the start. */
  readonly onStep?: (step: string) => void;
}

/** The environment that a function needs: its secrets, and the addresses of the systems that it calls. */
interface Requirements {
  readonly secrets: Secrets;
  readonly upstreams?: readonly Upstream[];
  readonly addresses?: readonly Address[];
}

export type City = Awaited<ReturnType<typeof startCity>>;

/** Gives each secret its first value, as a deployment does. */
const fillSecrets = (store: SecretStore) => {
  for (const name of mintedSecrets)
    store.getOrCreate(localSecretName(name), () => JSON.stringify(secretTable[name].mint()));
};

/** Returns the full names of secrets, by environment variable. */
const named = (secrets: Secrets): Record<string, string> =>
  Object.fromEntries(Object.entries(secrets).map(([variable, name]) => [variable, localSecretName(name)]));

/** Returns the first credentials. During a rotation there are two, and both are valid. */
const readCredential = (store: SecretStore) => {
  const [first] = readLocalSecret("messaging-basic", store).credentials;
  if (!first) throw new Error("the secret messaging-basic has no credentials");
  return first;
};

/** Returns the demo operator of the console, who is added to its secret with the digest of the password. */
const prepareDemoOperator = async (store: SecretStore) => {
  const username = "operator";
  const password = store.getOrCreate(localSecretName("demo-operator"), () => mintToken(""));
  const stored = readLocalSecret("messenger-console", store);
  const known = stored.users.find((user) => user.username === username);
  if (known && (await isPasswordOf(known.hash, password))) return { username, password };
  const users = stored.users.filter((user) => user !== known);
  const added = { username, role: "admin", hash: await hashPassword(password) };
  store.put(localSecretName("messenger-console"), JSON.stringify({ ...stored, users: [...users, added] }));
  return { username, password };
};

/** Returns the demo partner's stored API key, or issues a new one if it was revoked or lost, or lacks a scope. */
const prepareDemoKey = async (database: LocalDatabase, store: SecretStore): Promise<string> => {
  const name = localSecretName("demo-api-key");
  const sql = database.connectAs("partner-admin");
  try {
    const stored = store.find(name)?.value;
    const [active] = stored
      ? await sql`
          select from partner.api_key k
          where digest = ${digestToken(stored)} and partner.is_active(k)
            and scopes @> string_to_array(${partnerScopes.join(" ")}, ' ')`
      : [];
    if (stored && active) return stored;
    const unlimited = { residentsPerDay: null, lookUpsPerMinute: null };
    const { key } = await partnerDirectory(sql).add("demo", "portal", { scopes: partnerScopes }, unlimited);
    store.put(name, key);
    return key;
  } finally {
    await sql.end();
  }
};

const seedIfFewer = async (database: LocalDatabase, { residents, signal, onStep }: CityOptions) => {
  const sql = database.connectAs("importer");
  try {
    await storeOffice(sql);
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from resident.resident`;
    if ((row?.count ?? 0) >= residents) return;
    onStep?.(`inventing ${residents} residents`);
    await storeSeed(sql, residents, () => signal?.throwIfAborted());
  } finally {
    await sql.end();
  }
};

/**
 * Starts the whole system on this machine, from the gateway to the database, of bundles that are built. If one
 * part fails, the parts that were started are stopped.
 */
export const startCity = async (options: CityOptions) => {
  const { folder, durable, onAccess, onLog, signal, onStep = () => {}, via } = options;
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    mkdirSync(folder, { recursive: true });
    const secrets = openStore(`${folder}/secrets.json`);
    fillSecrets(secrets);
    const operator = await prepareDemoOperator(secrets);

    onStep("starting the database");
    const { capacity, onDatabaseLog } = options;
    const inDatabase = { via, capacity, onLog: onDatabaseLog };
    const database = await startDatabase(`${folder}/postgres`, secrets, durable, inDatabase);
    stops.push(() => database.server.stop());
    await seedIfFewer(database, options);
    signal?.throwIfAborted();
    const apiKey = await prepareDemoKey(database, secrets);

    const passwords = () => JSON.stringify(inventPasswords());
    const upstreams = await startUpstreams(
      JSON.parse(secrets.getOrCreate(localSecretName("demo-passwords"), passwords)),
    );
    stops.push(() => upstreams.stop());
    const secretsServer = await startSecretsServer(secrets, (step) => invokeInternal("rotate", step));
    stops.push(() => secretsServer.stop());
    const bucket = await startBucket(`${folder}/audit-anchors.json`);
    stops.push(() => bucket.stop());
    const common = {
      AWS_REGION: "ap-southeast-3",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_SECRETS_MANAGER: await atPort(secretsServer.url, "secrets", via),
      DATABASE_TLS: "disable",
    };
    await options.built;
    signal?.throwIfAborted();
    const wanted = options.messenger ?? "fake";
    const messenger =
      typeof wanted === "object"
        ? undefined
        : await startMessenger({
            variables: {
              ...common,
              ...named(messengerSecrets),
              // the console leads to the documentation
              ...(options.port > 0 && { INTEGRATION_ADDRESS: `http://127.0.0.1:${options.port}` }),
            },
            token: readLocalSecret("messenger-token", secrets).token,
            platform: wanted,
            ports: options.ports,
            via,
            onLine: (line) => onLog("messenger", line),
            onEnd: options.onMessengerEnd,
          });
    if (messenger) stops.push(() => messenger.stop());
    const messengerUrl = typeof wanted === "object" ? wanted.url : (messenger?.url ?? "");
    const lambdas = new Map<string, Lambda>();
    stops.push(() => Promise.all([...lambdas.values()].map((lambda) => lambda.stop())));

    const invoke: Invoke = (fn, event, requestId) => {
      const lambda = lambdas.get(fn);
      if (!lambda) throw new Error(`no function ${fn}`);
      return lambda.invoke(event, requestId);
    };
    const invokeInternal = (fn: string, event: unknown): Promise<Outcome> => invoke(fn, event, randomUUID());

    const plans = database.connectAs("partner-admin");
    stops.push(() => plans.end({ timeout: 1 }));
    const findPlan = cachePlans(partnerDirectory(plans).findPlan);
    const port = options.port || (await findPort());
    const messagingPort = options.messagingPort || (await findPort());
    const addresses = {
      integration: `http://127.0.0.1:${port}`,
      messaging: `http://127.0.0.1:${messagingPort}`,
    };
    const open = async (defined: Api, at: number) => {
      const api = options.capacity ? withCapacity(defined, options.capacity) : defined;
      const gateway = await startGateway({
        ...{ api: restApiOf(api, addresses), port: at, invoke, findPlan, onAccess },
        perAddress: options.limitsAddresses ? api.firewall.perAddress : undefined,
      });
      stops.push(() => gateway.stop());
      return gateway.url;
    };
    const baseUrl = await open(integrationApi, port);
    const messagingBaseUrl = await open(messagingApi, messagingPort);

    const urls: Readonly<Record<Upstream | Address, string>> = {
      LEGACY_AUTH_URL: await atPort(upstreams.urls.LEGACY_AUTH_URL, "legacy login", via),
      EMPLOYEE_SYSTEM_URL: await atPort(upstreams.urls.EMPLOYEE_SYSTEM_URL, "employee system", via),
      MESSENGER_URL: await atPort(messengerUrl, "messenger", via),
      INTEGRATION_ADDRESS: baseUrl,
      MESSAGING_ADDRESS: messagingBaseUrl,
      AUDIT_ANCHORS_URL: await atPort(bucket.url, "audit anchors", via),
    };
    const variables = ({
      secrets: needed,
      upstreams: called = [],
      addresses = [],
    }: Requirements): Record<string, string> => ({
      ...common,
      ...named(needed),
      ...Object.fromEntries([...called, ...addresses].map((name) => [name, urls[name]])),
    });
    for (const row of [...routes, ...authorizers, ...internalFunctions])
      lambdas.set(
        row.fn,
        startLambda({
          name: functionName(row.fn),
          folder: bundleFolder(row.fn),
          variables: {
            ...variables(row),
            ...(row === rotate && { SECRETS_PREFIX: secretsPrefix(localStage) }),
          },
          timeoutSeconds: row.timeoutSeconds,
          reserved: options.capacity?.reserved.get(row.fn),
          onLine: (line) => onLog(row.fn, line),
        }),
      );
    if (options.scheduled) {
      const stopFunctions = startSchedule(internalFunctions, (fn) => invokeInternal(fn, {}));
      const stopJobs = startJobs(jobs, (input) => invokeInternal("notify", input));
      stops.push(stopFunctions, stopJobs);
    }
    return {
      baseUrl,
      messagingBaseUrl,
      /** Address of the messenger; its console is at `/console`. */
      messengerUrl,
      /** Undefined if the city uses a messenger that was already running. */
      messenger,
      /** Credentials of an operator of the console. */
      console: operator,
      /** Credentials of the messaging API. */
      basic: readCredential(secrets),
      /** API key of the partner `demo`, with all scopes. */
      apiKey,
      secretsUrl: secretsServer.url,
      database,
      secrets,
      upstreams,
      /** The anchors of the audit's seals. */
      bucket,
      /** Returns the environment variables of a function. */
      variables,
      /** Invokes an internal function. */
      invoke: invokeInternal,
      /** Uses the current bundles from the next invocation on. */
      reload() {
        for (const lambda of lambdas.values()) lambda.reload();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
