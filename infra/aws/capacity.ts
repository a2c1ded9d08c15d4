import type { LoginRole } from "#lib/db/roles.ts";
import { messengerPools } from "#lib/messenger/pools.ts";
import { routes } from "#lib/routes/index.ts";
import { notify, reportSubject } from "#lib/routes/internal.ts";
import type { Rate, Route } from "#lib/routes/route.ts";
import type { Api } from "./api.ts";
import type { Config } from "./config.ts";

/*
 * The connections of a stage's database, and who may have how many. The roles' limits, the concurrency of the functions,
 * the throttles and the alarms all follow from these numbers.
 */

/** What the budget follows from. */
export interface Size {
  /** `max_connections` of the server. */
  readonly connections: number;
  /** Most environments that one function of each role may have, when the roles share this number; 0 reserves none. */
  readonly functionConcurrency: number;
  /** Messengers that run at the same time; one by default. */
  readonly messengerTasks?: number;
  /** Whose reports need connections, if there is one. */
  readonly citizenPortalRole?: string | undefined;
}

/**
 * Slots that no client gets: 3 for superusers, 2 for RDS, and the connections of its monitoring.
 * @see https://www.postgresql.org/docs/current/runtime-config-connection.html#GUC-SUPERUSER-RESERVED-CONNECTIONS
 */
const serverConnections = 8;

/** Slots that nobody else can take: for `psql`, the migration and a rotation as the administrator. */
export const operatorConnections = 4;

const messengerConnections = messengerPools.sender + messengerPools.bulk + messengerPools.election;

/** Runs of jobs, which may take minutes, and events, each with two connections. More of them wait in Lambda's queue. */
const notifyConcurrency = 6;

/** Citizens who get their report at the same time; the portal repeats the request of any other. */
const portalConcurrency = 4;

/** Other roles of which the number of clients is known. */
const others = {
  notify: 2 * notifyConcurrency,
  // the run, and one that was interrupted within the last minute
  maintenance: 2,
  importer: 4,
  // rare commands of one connection: one operator at a time
  "employee-admin": 1,
  subject: 1,
  "partner-admin": 2,
  "sender-admin": 2,
} as const satisfies Partial<Record<LoginRole, number>>;

/** Roles of which the number of clients is known. A deployment replaces messengers one by one. */
const countFixed = ({ messengerTasks = 1, citizenPortalRole }: Size) => ({
  ...others,
  // one for the rotation of its password
  "citizen-portal": citizenPortalRole === undefined ? 1 : portalConcurrency,
  messenger: (messengerTasks + 1) * messengerConnections,
  console: (messengerTasks + 1) * messengerPools.console,
});

/**
 * Shares of the other connections. The authorizers of keys and of senders return their connection after each lookup, of which
 * they make one in 30 s for a key; requests of employees hold one while they wait for a legacy system.
 */
const shares = {
  gatekeeper: 0.14,
  resident: 0.4,
  employee: 0.19,
  "employee-ticket": 0.2,
  tourism: 0.07,
} as const;
type SharedRole = keyof typeof shares;
const sharedRoles = Object.keys(shares) as SharedRole[];

/** How long a request has an environment: without and with a legacy system, at a cold start once 0.5 s more. */
const holdSeconds = { own: 0.05, withLegacySystem: 0.25 };

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

export type Capacity = ReturnType<typeof planCapacity>;

const roleOf = ({ secrets }: Route): SharedRole | undefined =>
  sharedRoles.find((role) => secrets.DATABASE_SECRET_ID === `database/${role}`);

/** @throws Error when the server has too few connections for the stage. */
export const planCapacity = (size: Size) => {
  const { connections, functionConcurrency } = size;
  const fixed = countFixed(size);
  const taken = serverConnections + operatorConnections + sum(Object.values(fixed));
  const shared = connections - taken;
  const part = (role: SharedRole, of: number) => Math.floor(of * shares[role]);
  if (part("tourism", shared) < 1)
    throw new Error(`the database needs at least ${taken + Math.ceil(1 / shares.tourism)} connections`);
  /** `CONNECTION LIMIT` of each role. */
  const roles: Readonly<Record<LoginRole, number>> = {
    ...fixed,
    ...(Object.fromEntries(sharedRoles.map((role) => [role, part(role, shared)])) as Record<
      SharedRole,
      number
    >),
  };
  const concurrent = (role: SharedRole) =>
    Math.max(1, part(role, functionConcurrency ? Math.min(shared, functionConcurrency) : shared));
  /**
   * Environments by function: no more than its role has connections. The authorizer is not limited, because API Gateway
   * answers 500 for it; it waits for a connection.
   */
  const functions = new Map<string, number>(
    routes.flatMap((row) => {
      const role = roleOf(row);
      return role ? [[row.fn, concurrent(role)] as const] : [];
    }),
  );
  functions.set(notify.fn, notifyConcurrency);
  if (size.citizenPortalRole !== undefined) functions.set(reportSubject.fn, portalConcurrency);
  const reserved = functionConcurrency ? functions : new Map();
  return {
    connections,
    roles,
    /**
     * Reserved concurrency by function; others are not limited, as they need no connection. Idle environments of the code before
     * a deployment lose their connections after 4 s (`idle_session_timeout`).
     */
    reserved: reserved as ReadonlyMap<string, number>,
    /** Requests of a route that may arrive at once without exceeding the concurrency of its functions, and their rate. */
    throttleOf: (route: Route, { throttle }: Pick<Api, "throttle">): Rate => {
      const given = route.throttle ?? throttle;
      const own = functions.get(route.fn);
      if (own === undefined) return given;
      const burst = Math.max(1, Math.min(given.burst, own));
      const held = route.upstreams ? holdSeconds.withLegacySystem : holdSeconds.own;
      return { burst, requestsPerSecond: Math.min(given.requestsPerSecond, Math.round(burst / held)) };
    },
  };
};

/**
 * RDS allows one connection per 9,531,392 bytes of memory, about 94 for 1 GiB of which it uses a part itself.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Limits.html#RDS_Limits.MaxConnections
 */
const connectionsPerGib = 94;

/**
 * Memory of an instance by the size of its class, in GiB: that of the T classes; others have as much or more.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.DBInstanceClass.Summary.html
 */
const gibOfSize: Readonly<Record<string, number>> = { micro: 1, small: 2, medium: 4, large: 8, xlarge: 16 };
const largestGib = 32;

/** Memory of an instance class, such as `t4g.small`, in GiB. */
export const memoryOf = (instanceClass: string): number =>
  gibOfSize[instanceClass.split(".")[1] ?? ""] ?? largestGib;

/**
 * Aurora Serverless's limits, with a minimum of up to half a unit of about 2 GiB and with more.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html#aurora-serverless-v2.max-connections
 */
const auroraLimit = { low: 2_000, high: 5_000 };

const connectionsOf = ({ database, capacity }: Config): number => {
  if (database.kind === "existing") return database.connections;
  if (database.kind === "instance") return connectionsPerGib * memoryOf(database.instanceClass);
  const { minCapacity = capacity.min, maxCapacity = capacity.max } = database;
  return Math.min(connectionsPerGib * 2 * maxCapacity, auroraLimit[minCapacity <= 0.5 ? "low" : "high"]);
};

/** Plans a stage of AWS. */
export const capacityOf = (config: Config): Capacity =>
  planCapacity({ ...config, connections: connectionsOf(config) });

/** One address may have a fifth of what the callers of the busiest route share. */
const addressShare = 0.2;

/** An API within the capacity of its stage: the gateway rejects what the functions could not serve. */
export const withCapacity = (api: Api, capacity: Capacity): Api => {
  const fitted = api.routes.map((route) => {
    const throttle = capacity.throttleOf(route, api);
    return throttle === api.throttle ? route : { ...route, throttle };
  });
  const rates = fitted.flatMap(({ auth, throttle = api.throttle }) =>
    auth.kind === "apiKey" ? throttle.requestsPerSecond : [],
  );
  const most = Math.floor(60 * addressShare * Math.max(...rates, 0)) || Number.POSITIVE_INFINITY;
  const limits = api.firewall.perAddress.limits.map((limit) => ({
    ...limit,
    requestsPerMinute: Math.min(limit.requestsPerMinute, most),
  }));
  return {
    ...api,
    routes: fitted,
    firewall: { ...api.firewall, perAddress: { ...api.firewall.perAddress, limits } },
  };
};
