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

export interface Line {
  readonly what: string;
  readonly terms: readonly Term[];
}

type Kind = DatabaseChoice["kind"];

const term = (amount: number, unit: string, price: number): Term => ({ amount, unit, price });
const line = (what: string, ...terms: readonly Term[]): Line => ({ what, terms });
const monthly = (amount: number, unit: string, hourly: number) =>
  term(amount * hoursPerMonth, `${unit} hours`, hourly);

/** Assumptions that are not counted from templates. */
const assumed = {
  databaseGb: 20,
  /** Of the audit, with a read in every ten minutes. */
  sealsPerMonth: 4_400,
  /** Logs of the messenger, maintenance and jobs, and of rejected connections. */
  idleLogGb: 1,
  /** Maintenance every five minutes, the jobs of `lib/notification/jobs.ts`, and the probe every minute. */
  idleStarts: 90_000,
  idleSeconds: 0.5,
  idleGb: 0.5,
  functionSeconds: 0.03,
  /** Bytes of the access log, the log lines of the function and Lambda, and of a response. */
  logBytes: 2_000,
  answerBytes: 4_000,
  /** Bytes of the audit row, its index and the transaction. */
  storageAccesses: 3,
};

const server = (kind: Kind, { databaseServers, isMultiZone }: Inventory): Line[] => {
  const copies = isMultiZone ? 2 : 1;
  switch (kind) {
    case "existing":
      return [];
    case "aurora":
      return [
        line("Database", monthly(databaseServers * 0.5, "capacity unit", prices.auroraUnitHour)),
        line("Database storage", term(assumed.databaseGb, "GB", prices.auroraGbMonth)),
      ];
    case "instance":
      return [
        line("Database", monthly(copies, "db.t4g.micro", prices.instanceHour)),
        line("Database storage", term(assumed.databaseGb * copies, "GB", prices.instanceGbMonth)),
      ];
  }
};

/** Estimates the monthly cost of a stage without requests. */
export const idleLines = (kind: Kind, inventory: Inventory): Line[] => {
  const { natGateways, figures, messengers } = inventory;
  const { idleStarts, idleSeconds, idleGb, idleLogGb, sealsPerMonth } = assumed;
  return [
    ...server(kind, inventory),
    line(
      "Messenger (Fargate, ARM)",
      monthly(0.25 * messengers, "vCPU", prices.fargateArmCpuHour),
      monthly(0.5 * messengers, "GB", prices.fargateArmGbHour),
    ),
    line("Public IPv4 addresses", monthly(inventory.publicAddresses, "address", prices.publicAddressHour)),
    ...(natGateways > 0
      ? [line("NAT gateways", monthly(natGateways, "gateway", prices.natGatewayHour))]
      : []),
    line(
      "Firewalls (WAF)",
      term(inventory.firewalls, "firewalls", prices.firewallMonth),
      term(inventory.firewallRules, "rules", prices.firewallRuleMonth),
    ),
    line("Secrets", term(inventory.secrets, "secrets", prices.secretMonth)),
    line("Keys (KMS)", term(inventory.keys, "keys", prices.keyMonth)),
    line("Alarms", term(inventory.alarmMetrics, "metrics", prices.alarmMetricMonth)),
    line("Metrics", term(figures, "metrics", prices.figureMonth)),
    line("Dashboard", term(inventory.dashboards, "dashboard", prices.dashboardMonth)),
    line("Logs", term(idleLogGb, "GB", prices.logGb)),
    line("Anchors of the audit (S3)", term(sealsPerMonth / 1_000, "thousand objects", prices.putThousand)),
    line("Service discovery (Cloud Map)", term(inventory.zones, "zone", prices.zoneMonth)),
    line(
      "Maintenance, jobs and probe (Lambda, Scheduler)",
      term(idleStarts * idleSeconds * idleGb, "GB-seconds", prices.lambdaArmGbSecond),
      term(idleStarts / 1_000_000, "million invocations", prices.lambdaMillion),
    ),
  ];
};

/** Estimates the extra cost of a million resident lists, the most expensive everyday request. */
export const requestLines = (kind: Kind): Line[] => {
  const { functionSeconds, logBytes, answerBytes, storageAccesses } = assumed;
  return [
    line("API Gateway (REST)", term(1, "million", prices.restMillion)),
    line("Firewall (WAF)", term(1, "million", prices.firewallMillion)),
    line(
      "Function (Lambda, arm64)",
      term(1, "million invocations", prices.lambdaMillion),
      term(
        1_000_000 * (listResidents.memoryMb / 1_024) * functionSeconds,
        "GB-seconds",
        prices.lambdaArmGbSecond,
      ),
    ),
    line("Logs", term(logBytes / 1_000, "GB", prices.logGb)),
    line("Outbound traffic", term(answerBytes / 1_000, "GB", prices.trafficGb)),
    ...(kind === "aurora"
      ? [line("Database I/O", term(storageAccesses, "million", prices.auroraMillionReadsAndWrites))]
      : []),
  ];
};

export const costOf = ({ terms }: Line): number =>
  terms.reduce((total, { amount, price }) => total + amount * price, 0);

export const totalOf = (lines: readonly Line[]): number =>
  lines.reduce((total, line) => total + costOf(line), 0);
