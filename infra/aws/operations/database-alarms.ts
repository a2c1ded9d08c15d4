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
 * Memory of an instance by the size of its class, in GiB: that of the T classes, the others have as much or more.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Concepts.DBInstanceClass.Summary.html
 */
const gibOfSize: Readonly<Record<string, number>> = { micro: 1, small: 2, medium: 4, large: 8, xlarge: 16 };
const memoryOf = (instanceClass: string) => gibOfSize[instanceClass.split(".")[1] ?? ""] ?? 32;

/**
 * Four fifths of what the server takes: RDS allows a connection for each 9,531,392 bytes that are left beside the
 * system, of 1 GiB about 94, and Aurora with half a unit as its least at most 2,000.
 */
const connectionsPerGib = 75;
const mostConnections = 1_600;
const crowded = (gib: number) => Math.min(gib * connectionsPerGib, mostConnections);

interface Watched {
  /** In per cent of what the server has. */
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
    says: "Nothing is connected to the database: it is down, or nobody can reach it.",
    // the messenger holds connections day and night; a server that is gone has no figures at all
    metric: connections,
    rings: { below: 1 },
    silence: "bad",
  },
  {
    name: "database-busy",
    section: "database-busy",
    says: "The database has been at its limit of work for a quarter of an hour; answers become slow.",
    metric: load,
    rings: { atLeast: 90 },
    periods: 3,
    silence: "good",
  },
  {
    name: "database-connections",
    section: "database-connections",
    says: "The database has almost as many connections as it takes; new requests will soon be refused.",
    metric: connections,
    rings: { atLeast: crowded(memoryGib) },
    periods: 2,
    silence: "good",
  },
];

/** Aurora's storage grows by itself up to 128 TiB. */
const storage = (server: Server, { database }: Config): AlarmRow[] =>
  server.kind === "instance" && database.kind === "instance"
    ? [
        {
          name: "database-storage",
          section: "database-storage",
          says: "The database's disk is nearly full; when it is, nothing can be stored.",
          metric: server.instance.metricFreeStorageSpace({ period, statistic: "Minimum" }),
          // RDS enlarges it below a tenth, but not twice within six hours: this is below that
          rings: { below: 0.07 * database.storageGb * gib },
          silence: "good",
        },
      ]
    : [];

/** Of a server that was there already, only what the functions notice. */
export const databaseAlarms = (server: Server, config: Config): AlarmRow[] => {
  const watched = watch(server, config);
  return [
    {
      name: "database-unreachable",
      section: "database-down",
      says: "Requests fail because the database does not answer: no resident, tourism page, login or key is found.",
      metric: figureOf(config.stage, databaseFailures, "Sum", minutes),
      rings: { atLeast: 5 },
      silence: "good",
    },
    ...(watched ? capacity(watched) : []),
    ...storage(server, config),
  ];
};
