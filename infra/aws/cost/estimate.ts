import { apiKeyAuthorizer } from "#lib/routes/authorizer.ts";
import { listResidents } from "#lib/routes/resident.ts";
import type { DatabaseChoice } from "../config.ts";
import type { Inventory } from "./inventory.ts";
import { hoursPerMonth, prices } from "./prices.ts";

/** An amount and its unit price. */
interface Term {
  readonly amount: number;
  readonly unit: string;
  readonly price: number;
}

/** One line of a bill. */
export interface Line {
  readonly what: string;
  readonly terms: readonly Term[];
}

type Kind = DatabaseChoice["kind"];

const term = (amount: number, unit: string, price: number): Term => ({ amount, unit, price });
const monthly = (amount: number, unit: string, hourly: number) =>
  term(amount * hoursPerMonth, `${unit} hours`, hourly);

/** Assumptions that are not counted from templates. */
const assumed = {
  databaseGb: 20,
  /** ECS Container Insights metrics of one cluster and one service: AWS publishes no number. */
  insightFigures: 30,
  /** The session task's, the upkeep's and the jobs', and what the network refuses. */
  idleLogGb: 1,
  /** Maintenance every five minutes, and the jobs of `lib/notification/jobs.ts`. */
  idleStarts: 45_000,
  idleSeconds: 0.5,
  idleGb: 0.5,
  functionSeconds: 0.03,
  authorizerSeconds: 0.02,
  /** Bytes of the access log, the log lines of both functions and Lambda, and of a response. */
  logBytes: 2_000,
  answerBytes: 4_000,
  /** Bytes of the audit row, its index and the transaction. */
  storageAccesses: 3,
};

const server = (kind: Kind, { databaseServers, isMultiZone }: Inventory): Line[] => {
  if (kind === "existing") return [];
  const copies = isMultiZone ? 2 : 1;
  return kind === "aurora"
    ? [
        { what: "Database", terms: [monthly(databaseServers * 0.5, "capacity unit", prices.auroraUnitHour)] },
        { what: "Database storage", terms: [term(assumed.databaseGb, "GB", prices.auroraGbMonth)] },
      ]
    : [
        { what: "Database", terms: [monthly(copies, "db.t4g.micro", prices.instanceHour)] },
        {
          what: "Database storage",
          terms: [term(assumed.databaseGb * copies, "GB", prices.instanceGbMonth)],
        },
      ];
};

/** Estimates the monthly cost of a stage without requests. */
export const idleLines = (kind: Kind, inventory: Inventory): Line[] => {
  const { publicAddresses, natGateways, secrets, keys, alarmMetrics, figures } = inventory;
  const { dashboards, firewalls, firewallRules, zones } = inventory;
  const { idleStarts, idleSeconds, idleGb, idleLogGb, insightFigures } = assumed;
  return [
    ...server(kind, inventory),
    {
      what: "Messenger (Fargate, ARM)",
      terms: [monthly(0.25, "vCPU", prices.fargateArmCpuHour), monthly(0.5, "GB", prices.fargateArmGbHour)],
    },
    { what: "Public IPv4 addresses", terms: [monthly(publicAddresses, "address", prices.publicAddressHour)] },
    ...(natGateways > 0
      ? [{ what: "NAT gateways", terms: [monthly(natGateways, "gateway", prices.natGatewayHour)] }]
      : []),
    {
      what: "Firewalls (WAF)",
      terms: [
        term(firewalls, "firewalls", prices.firewallMonth),
        term(firewallRules, "rules", prices.firewallRuleMonth),
      ],
    },
    { what: "Secrets", terms: [term(secrets, "secrets", prices.secretMonth)] },
    { what: "Keys (KMS)", terms: [term(keys, "keys", prices.keyMonth)] },
    { what: "Alarms", terms: [term(alarmMetrics, "metrics", prices.alarmMetricMonth)] },
    { what: "Metrics", terms: [term(figures + insightFigures, "metrics", prices.figureMonth)] },
    { what: "Dashboard", terms: [term(dashboards, "dashboard", prices.dashboardMonth)] },
    { what: "Logs", terms: [term(idleLogGb, "GB", prices.logGb)] },
    { what: "Service discovery (Cloud Map)", terms: [term(zones, "zone", prices.zoneMonth)] },
    {
      what: "Maintenance and jobs (Lambda, Scheduler)",
      terms: [
        term(idleStarts * idleSeconds * idleGb, "GB-seconds", prices.lambdaArmGbSecond),
        term(idleStarts / 1_000_000, "million invocations", prices.lambdaMillion),
      ],
    },
  ];
};

/** Estimates the extra cost of a million resident lists, the most expensive everyday request. */
export const requestLines = (kind: Kind): Line[] => {
  const { functionSeconds, authorizerSeconds, logBytes, answerBytes, storageAccesses } = assumed;
  const gbSeconds = (memoryMb: number, seconds: number) => 1_000_000 * (memoryMb / 1_024) * seconds;
  return [
    { what: "API Gateway (REST)", terms: [term(1, "million", prices.restMillion)] },
    { what: "Firewall (WAF)", terms: [term(1, "million", prices.firewallMillion)] },
    {
      what: "Function and authorizer (Lambda, arm64)",
      terms: [
        term(2, "million invocations", prices.lambdaMillion),
        term(
          gbSeconds(listResidents.memoryMb, functionSeconds) +
            gbSeconds(apiKeyAuthorizer.memoryMb, authorizerSeconds),
          "GB-seconds",
          prices.lambdaArmGbSecond,
        ),
      ],
    },
    { what: "Logs", terms: [term(logBytes / 1_000, "GB", prices.logGb)] },
    { what: "Outbound traffic", terms: [term(answerBytes / 1_000, "GB", prices.trafficGb)] },
    ...(kind === "aurora"
      ? [
          {
            what: "Database I/O",
            terms: [term(storageAccesses, "million", prices.auroraMillionReadsAndWrites)],
          },
        ]
      : []),
  ];
};

export const costOf = ({ terms }: Line): number =>
  terms.reduce((total, { amount, price }) => total + amount * price, 0);

export const totalOf = (lines: readonly Line[]): number =>
  lines.reduce((total, line) => total + costOf(line), 0);
