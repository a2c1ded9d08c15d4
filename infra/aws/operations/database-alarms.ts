import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { capacityOf, memoryOf } from "../capacity.ts";
import type { Config } from "../config.ts";
import type { AlarmRow } from "../constructs/alarms.ts";
import { copiesMade } from "../constructs/backup-copy.ts";
import type { Server } from "../constructs/database.ts";
import { cloudWatchMetric, databaseFailures, missingConnections } from "./log-metric.ts";

const minutes = 5;
const period = Duration.minutes(minutes);
const gib = 1024 ** 3;

interface Watched {
  /** In per cent of the server's capacity. */
  readonly load: Metric;
  readonly connections: Metric;
}

const average = { period, statistic: "Average" };
const maximum = { period, statistic: "Maximum" };

const watch = (server: Server): Watched | undefined => {
  if (server.kind === "aurora")
    return {
      load: server.cluster.metricACUUtilization(average),
      connections: server.cluster.metricDatabaseConnections(maximum),
    };
  if (server.kind === "instance")
    return {
      load: server.instance.metricCPUUtilization(average),
      connections: server.instance.metricDatabaseConnections(maximum),
    };
  return undefined;
};

const capacity = ({ load, connections }: Watched, limit: number): AlarmRow[] => [
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
    rings: { atLeast: Math.floor(0.8 * limit) },
    periods: 2,
  },
];

/**
 * What an instance runs out of before its processor. Aurora's units include memory, and have no credits.
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Monitoring.html
 */
const resources = (server: Server, { database }: Config): AlarmRow[] => {
  if (server.kind !== "instance" || database.kind !== "instance") return [];
  const ofInstance = (metricName: string, statistic: string, minutes: number) =>
    server.instance.metric(metricName, { statistic, period: Duration.minutes(minutes) });
  const memory: AlarmRow = {
    name: "database-memory",
    section: "database-busy",
    says: "The database has had less than a twentieth of its memory free for 15 minutes; it may restart.",
    metric: ofInstance("FreeableMemory", "Average", minutes),
    rings: { below: 0.05 * memoryOf(database.instanceClass) * gib },
    periods: 3,
  };
  const credits: AlarmRow = {
    name: "database-credits",
    section: "database-busy",
    says: "The database has had no CPU credits for an hour: each further hour of CPU costs extra, or it is slowed down.",
    metric: ofInstance("CPUCreditBalance", "Maximum", 60),
    rings: { below: 1 },
  };
  return database.instanceClass.startsWith("t") ? [memory, credits] : [memory];
};

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

const copies = (server: Server, { stage, backupVaultArn }: Config): AlarmRow[] =>
  backupVaultArn && server.kind !== "existing"
    ? [
        {
          name: "backup-copy",
          says: "For a day no copy of the database has reached the vault outside of the stage.",
          metric: copiesMade(stage),
          rings: { below: 1 },
          silence: "bad",
        },
      ]
    : [];

/** For an existing server, only what the functions notice. */
export const databaseAlarms = (server: Server, config: Config): AlarmRow[] => {
  const watched = watch(server);
  return [
    {
      name: "database-unreachable",
      section: "database-down",
      says: "Requests fail because the database does not respond: residents, tourism, logins and keys are affected.",
      metric: cloudWatchMetric(config.stage, databaseFailures, "Sum", minutes),
      rings: { atLeast: 5 },
    },
    {
      name: "connections-missing",
      section: "database-connections",
      says: "Requests are rejected because every database connection of their function's role is in use.",
      metric: cloudWatchMetric(config.stage, missingConnections, "Sum", minutes),
      rings: { atLeast: 1 },
    },
    ...(watched ? capacity(watched, capacityOf(config).connections) : []),
    ...resources(server, config),
    ...storage(server, config),
    ...copies(server, config),
  ];
};
