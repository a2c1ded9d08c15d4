import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Config } from "../config.ts";
import type { Server } from "../constructs/database.ts";
import type { AlarmRow } from "./alarm.ts";
import { databaseFailures, figureOf } from "./log-metric.ts";

const minutes = 5;
const period = Duration.minutes(minutes);
const gib = 1024 ** 3;

/**
 * Memory of an instance by the size of its class, in GiB: that of the T classes; others have as much or more.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.DBInstanceClass.Summary.html
 */
const gibOfSize: Readonly<Record<string, number>> = { micro: 1, small: 2, medium: 4, large: 8, xlarge: 16 };
const memoryOf = (instanceClass: string) => gibOfSize[instanceClass.split(".")[1] ?? ""] ?? 32;

/**
 * 80 % of the connection limit. RDS allows one connection per 9,531,392 bytes of available memory, about 94 for
 * 1 GiB; Aurora with a minimum of half a unit allows at most 2,000.
 */
const connectionsPerGib = 75;
const mostConnections = 1_600;
const crowded = (gib: number) => Math.min(gib * connectionsPerGib, mostConnections);

interface Watched {
  /** In per cent of the server's capacity. */
  readonly load: Metric;
  readonly connections: Metric;
  readonly memoryGib: number;
}

const average = { period, statistic: "Average" };
const maximum = { period, statistic: "Maximum" };

const watch = (server: Server, { database, capacity }: Config): Watched | undefined => {
  if (server.kind === "aurora" && database.kind === "aurora")
    return {
      load: server.cluster.metricACUUtilization(average),
      connections: server.cluster.metricDatabaseConnections(maximum),
      memoryGib: (database.maxCapacity ?? capacity.max) * 2,
    };
  if (server.kind === "instance" && database.kind === "instance")
    return {
      load: server.instance.metricCPUUtilization(average),
      connections: server.instance.metricDatabaseConnections(maximum),
      memoryGib: memoryOf(database.instanceClass),
    };
  return undefined;
};

const capacity = ({ load, connections, memoryGib }: Watched): AlarmRow[] => [
  {
    name: "database-silent",
    section: "database-down",
    says: "Nothing is connected to the database: it is down or unreachable.",
    // the messenger always holds connections; a server that is down has no metrics at all
    metric: connections,
    rings: { below: 1 },
    silence: "bad",
  },
  {
    name: "database-busy",
    says: "The database has been at its capacity limit for 15 minutes; responses are getting slow.",
    metric: load,
    rings: { atLeast: 90 },
    periods: 3,
  },
  {
    name: "database-connections",
    says: "The database is close to its connection limit; new requests will soon be rejected.",
    metric: connections,
    rings: { atLeast: crowded(memoryGib) },
    periods: 2,
  },
];

/** Aurora's storage grows automatically up to 128 TiB. */
const storage = (server: Server, { database }: Config): AlarmRow[] =>
  server.kind === "instance" && database.kind === "instance"
    ? [
        {
          name: "database-storage",
          says: "The database's disk is nearly full; once it is full, nothing can be stored.",
          metric: server.instance.metricFreeStorageSpace({ period, statistic: "Minimum" }),
          // RDS extends storage below 10 %, but not twice within six hours: this is below that
          rings: { below: 0.07 * database.storageGb * gib },
        },
      ]
    : [];

/** For an existing server, only what the functions notice. */
export const databaseAlarms = (server: Server, config: Config): AlarmRow[] => {
  const watched = watch(server, config);
  return [
    {
      name: "database-unreachable",
      section: "database-down",
      says: "Requests fail because the database does not respond: residents, tourism, logins and keys are affected.",
      metric: figureOf(config.stage, databaseFailures, "Sum", minutes),
      rings: { atLeast: 5 },
    },
    ...(watched ? capacity(watched) : []),
    ...storage(server, config),
  ];
};
